"""Experiments: they measure the project as a whole, import all other packages, and are imported by none.

Reading order: ``series`` (matches that make one experiment); ``convergence`` (the search on small games); ``learn``
(what the packaged weights are learned by); ``openings`` and ``puzzles`` (what the commands of these names
show); ``commands`` (the commands' common part).
"""

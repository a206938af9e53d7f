"""Experiments: they measure the project as a whole, import all other packages, and are imported by none.

Reading order: ``series`` (matches that make one experiment); ``convergence`` (the search on small games); ``learning``
(shared by studies that learn); ``belief`` and ``weighting`` (learned beliefs); ``rbc_learn`` (Reconnaissance Blind
Chess); ``evaluation_positions`` and ``tune_evaluation`` (the built-in evaluation); ``openings`` (the book that
``klss openings`` shows); ``commands`` (the commands' common part).
"""

"""Experiments: they measure the project as a whole, import all other packages, and are imported by none.

Reading order: ``series`` (matches that make one experiment); ``blind_games`` (finished games of blind chess, as the
papers show them); ``learn`` (makes the packaged weights); ``puzzles`` (makes the packaged
puzzles); ``commands`` (the commands' common part).
"""

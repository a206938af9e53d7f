"""The part of the command line for OpenSpiel's games only.

Reading order: ``screen`` a game in the terminal; ``analyse`` one turn of a kept game.
"""

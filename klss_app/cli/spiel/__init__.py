"""What the command line has for the games of OpenSpiel alone.

Reading order: ``screen`` a game in the terminal; ``analyse`` one turn of a kept game.
"""

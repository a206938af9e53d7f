"""The part of the command line for Reconnaissance Blind Chess only.

Reading order: ``screen`` the game in the terminal, with ``human``; ``track``; ``analyse``.
"""

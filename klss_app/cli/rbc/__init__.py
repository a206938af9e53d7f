"""What the command line has for Reconnaissance Blind Chess alone.

Reading order: ``screen`` the game in the terminal, with ``human``; ``track``; ``analyse``, with
``expectation_thoughts``, ``synoptic_thoughts`` and ``whole_game``; ``verify``, with ``comparison`` (with a set of
positions by reconchess's functions).
"""

"""The part of the command line for Fog of War only.

Reading order: ``screen`` the game in the terminal, with ``human``; ``games`` the games of a file; ``track``;
``openings`` the opening book, with ``moves`` (moves as they are typed);
``analyse`` one turn, with ``analyse_report``; ``analyse_game`` a whole game; ``analyse_archive``
all games of a file; ``puzzles``.
"""

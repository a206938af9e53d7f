"""What the command line has for Fog of War alone.

Reading order: ``screen`` the game in the terminal, with ``human``; ``games`` what is in a file; ``track``;
``openings`` the opening book, with ``moves`` (moves as they are typed);
``analyse`` one turn, with ``analyse_report`` and ``board_plot``; ``analyse_game`` a whole game; ``analyse_archive``
all games of a file; ``puzzles``.
"""

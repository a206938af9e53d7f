"""The board in the browser: a server on the loopback that plays games with the arbiter, and one page.

Reading order, for any game: ``seats`` the players of a game and how their answers reach it, ``board_game`` what is
specific to a game, ``settings`` how it is played, ``engines`` the engine's process, ``running_game`` one game in its
thread, ``table`` games one after the other, ``analyses`` the engine's analysis of a finished game, ``guard`` who may
talk to the server, ``server`` the server. For Fog of War: ``messages`` what a page is sent of a view, ``fog_seat`` the
human, ``fog_board`` the game, ``reviews`` what is shown once it is over, ``game_analysis`` the analysis, ``summaries``
its costs in a few figures, ``one_file`` a review without a server, ``puzzle_pages`` puzzles. For Reconnaissance
Blind Chess: ``rbc_seat``, ``rbc_board``, ``rbc_analysis``.

The page itself is in the folder ``static``.

The wall: ``messages``, ``seats``, ``fog_seat`` and ``rbc_seat`` are on the player's side and see views only.
``running_game``, ``table``, ``reviews``, ``fog_board`` and ``rbc_board`` know the true game, and reveal nothing of it
before it is over.
"""

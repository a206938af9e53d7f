"""The board in the browser: a server on the loopback that plays games with the arbiter, and one page.

Reading order, for any game: ``seats`` the players of a game and how their answers reach it, ``engines`` the engine's
process, ``running_game`` one game in its thread, ``room`` games one after the other, ``analyses`` the engine's analysis
of a finished game, ``guard`` who may talk to the server, ``server`` the server, ``puzzle_pages`` puzzles, ``one_file``
a review without a server; ``fog_board`` and ``rbc_board`` what each game has in its own way, beside
:mod:`klss_app.front`. What a page is sent: :mod:`klss_app.known`.

The page itself is in the folder ``static``.

The wall: ``seats`` is on the player's side and sees observations only. ``running_game``,
``room``, ``fog_board`` and ``rbc_board`` know the true game, and reveal nothing of it before it is over.
"""

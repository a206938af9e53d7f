"""The board in the browser: a server on the loopback that plays games with the arbiter, and one page.

Reading order: ``messages`` what a page is sent of a view, ``seats`` the players of a game and how their answers reach
it, ``settings`` how it is played, ``engines`` the engine's process, ``running_game`` one game in its thread, ``table``
games one after the other, ``reviews`` what is shown once a game is over, ``game_analysis`` and ``analyses`` what the
engine makes of it, ``summaries`` a game's costs in a few figures, ``one_file`` a review without a server, ``guard`` who
may talk to the server, ``door`` how many connections it holds, ``server`` the server.

The page itself is in the folder ``static``.

The wall: ``messages`` and ``seats`` stand on the player's side and see views only; ``running_game``,
``table`` and ``reviews`` know the true game, and let nothing of it out before it is over.
"""

"""The board in the browser: a server on the loopback that plays games with the arbiter, and one page.

Reading order, for any game: ``seats`` the players of a game and how their answers reach it, ``board_game`` what a game
brings, ``settings`` how it is played, ``engines`` the engine's process, ``running_game`` one game in its thread,
``table`` games one after the other, ``analyses`` what the engine makes of a game that is over, ``guard`` who may talk
to the server, ``invitations`` the link for the other player, ``door`` how many connections it holds, ``server`` the
server. Of Fog of War: ``messages`` what a page is sent of a view, ``fog_seat`` the human, ``fog_board`` the game,
``reviews`` what is shown once it is over, ``game_analysis`` the analysis, ``summaries`` its costs in a few figures,
``one_file`` a review without a server, ``puzzle_pages`` puzzles, ``opening_pages`` the book. Of Reconnaissance Blind
Chess: ``rbc_seat``, ``rbc_board``, ``rbc_analysis``. Of OpenSpiel's games: ``text_seat``,
``text_board``.

The page itself is in the folder ``static``.

The wall: ``messages``, ``seats``, ``fog_seat``, ``rbc_seat`` and ``text_seat`` stand on the player's side and see views
only; ``running_game``, ``table``, ``reviews``, ``fog_board``, ``rbc_board`` and ``text_board`` know the true game, and
let nothing of it out before it is over.
"""

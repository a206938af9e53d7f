"""Playing any game with hidden information; independent of a particular game.

Reading order: ``outcome`` (how games end), ``limits`` (limits of an answer), ``time_plan`` (how an answer's time is
divided), ``contest`` (players and referees, and exceptions that end a game), ``arbiter`` (two players, one game),
``messages`` and ``wire`` (how a game is played with other programs), ``kit`` (what a game provides), ``small_game``
(the same for games that need little), ``possible`` (what a seat can't rule out in one of these), ``listed`` (its tree).
"""

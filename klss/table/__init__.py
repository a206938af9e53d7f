"""What every game with hidden information is played on; knows no game.

Reading order: ``outcome`` (how games end), ``limits`` (what limits an answer), ``time_plan`` (how an answer's time is
divided), ``contest`` (players and referees, and the ways out of a game), ``arbiter`` (two players, one game), ``kit``
(what a game brings), ``configuration`` (a player's choices as one flat text).
"""

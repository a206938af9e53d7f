"""What every game with hidden information is played on; knows no game.

Reading order: ``outcome`` (how games end), ``limits`` (what limits an answer), ``contest`` (players and referees, and
the ways out of a game), ``arbiter`` (two players, one game), ``kit`` (what a game brings).
"""

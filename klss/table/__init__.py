"""What every game with hidden information is played on; knows no game.

Reading order: ``outcome`` (how games end), ``limits`` (what limits a move), ``contest`` (what players and their hosts
say to each other).
"""

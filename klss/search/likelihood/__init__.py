"""How likely it is that the game stands at a state of the belief.

Reading order: ``uniform``, ``by_value``, ``by_weight`` (of a learned belief).
"""

"""The engine protocol with the second question of a turn, for Reconnaissance Blind Chess.

Reading order: ``messages``, ``shapes``, ``codec``; ``engine`` (our player served on it) and ``host`` (any program that
speaks it, hosted as a player).
"""

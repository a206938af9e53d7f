"""Compiled parts of the search.

Reading order: ``trunk`` (children, look-up), ``fold`` (takes decided infosets out of a game), ``utilities`` (of
sequences), ``regrets`` (regret minimisation), ``restricted`` (a game of some sequences), ``walk`` (where a trunk
grows).
"""

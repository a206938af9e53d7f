"""Compiled parts of the search.

Reading order: ``trunk`` (children, walks), ``fold`` (a game without its decided infosets), ``utilities`` (what
sequences are worth), ``regrets`` (their minimisation), ``restricted`` (a game of some sequences, and best responses),
``walk`` (where a trunk grows).
"""

"""Compiled parts of the search: ``trunk`` (children, walks, best responses), ``fold`` (a game without its decided
infosets).
"""

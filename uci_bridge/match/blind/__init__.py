"""Matches of Reconnaissance Blind Chess.

Reading order: ``engines`` (both sides' players), ``game`` (one game), ``match``.
"""

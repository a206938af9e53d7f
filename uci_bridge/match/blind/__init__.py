"""Matches of Reconnaissance Blind Chess: ``engines`` (both sides' players), ``game`` (one game), ``match``."""

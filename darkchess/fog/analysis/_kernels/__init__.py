"""Compiled code of the analysis.

Reading order: ``sure`` (what moves are sure to win).
"""

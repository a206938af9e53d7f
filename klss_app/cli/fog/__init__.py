"""The part of the command line for Fog of War only.

Reading order: ``games`` the games of a file; ``openings``; ``puzzles``.
"""

"""The part of the command line for Fog of War only.

Reading order: ``games`` the games of a file; ``track``; ``openings``; ``puzzles``; ``analyse`` one turn, with
``analyse_report``; ``analyse_games`` whole games.
"""

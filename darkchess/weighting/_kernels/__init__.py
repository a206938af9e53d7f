"""Features of the enemy's pieces, compiled.

Reading order: ``features``.
"""

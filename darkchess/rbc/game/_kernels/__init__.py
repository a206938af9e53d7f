"""What a player may ask for and what becomes of it, compiled.

Reading order: ``requests``.
"""

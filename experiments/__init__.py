"""Experiments: what measures the project as a whole. Imports every other package and is imported by none.

Reading order:

- ``match`` games between two players, one line of JSON a game
"""

"""The games that are played here, each as a kit (:mod:`klss.table.kit`).

Reading order: ``named`` finds a kit by its name; ``chess_kit`` is what both games of chess in the dark share, ``fog``
Fog of War, ``rbc`` Reconnaissance Blind Chess; ``openspiel`` any game of OpenSpiel's.
"""

"""The games that are played here, each as a kit (:mod:`klss.play.kit`).

Reading order: ``named`` finds a kit by its name; ``chess_kit`` is the base of both games of chess in the dark, ``fog``
Fog of War, ``rbc`` Reconnaissance Blind Chess; ``openspiel`` any game of OpenSpiel.
"""

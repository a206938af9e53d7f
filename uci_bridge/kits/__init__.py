"""The games that are played here, each as a kit (:mod:`klss.play.kit`).

Reading order: ``named`` finds a kit by its name; ``fog`` is Fog of War, ``rbc`` Reconnaissance Blind Chess,
``openspiel`` any game of OpenSpiel.
"""

"""What the packaged weights are learned by: ``python -m experiments.learn``.

Reading order: ``shards`` (the form of all data), ``fog`` and ``blind`` (decisions out of finished games, from the eyes
of each side), ``positions`` (positions with Stockfish's values); ``trainer`` (the one that trains all); ``weighing``
(weights of possible positions), ``siamese`` (those of a pair of networks, and of its rival, and all weights beside
each other), ``policy`` (the policy of moves), ``planning`` (the network that plans on synopses),
``selfplay`` (the same from its own games) and ``evaluation`` (the built-in evaluation); ``layers`` (of networks, in
training and in files for play).
"""

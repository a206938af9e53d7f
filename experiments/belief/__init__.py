"""Beliefs that are learned from games, and their worth: ``python -m experiments.belief COMMAND``.

Reading order: ``mixture`` (the games to learn from); ``policy`` and ``train`` (the policy of moves); ``rank`` (each
belief's probability of the truth), ``loss`` (the loss of moves), ``held`` (how often the truth is in a capped set);
``tables`` (README's tables).
"""

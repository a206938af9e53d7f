"""What beliefs learn from games, and what they are worth: ``python -m experiments.belief COMMAND``.

Reading order: ``mixture`` (the games that are learned from); ``policy`` and ``train`` (the policy of moves); ``rank``
(how likely the truth is to each belief), ``loss`` (what moves lose), ``held`` (how often the truth is in a set that was
cut); ``tables`` (what README says of them).
"""

"""What beliefs learn from games, and what they are worth: ``python -m experiments.belief train|rank|games``.

``mixture`` the games that are learned from; ``policy`` and ``train`` the policy of moves; ``data`` and ``siamese`` the
Siamese; ``rank`` how likely the truth is to each belief; ``arms`` what each is worth in games; ``quantile`` what the
truth is worth among the possible positions, without any belief.
"""

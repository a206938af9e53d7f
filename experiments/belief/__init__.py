"""What beliefs learn from games, and what they are worth: ``python -m experiments.belief train|rank|games``.

``mixture`` the games that are learned from, ``policy`` the policy of moves, ``rank`` how likely the truth is to each
belief, ``arms`` what each is worth in games.
"""

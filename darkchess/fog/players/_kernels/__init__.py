"""Children of positions in batches, with both players' observations.

Reading order: ``children``.
"""

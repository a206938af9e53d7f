"""Children of positions in batches, with both players' observations."""

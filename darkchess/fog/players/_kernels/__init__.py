"""Reading order: ``children`` (of positions in batches, with both players' observations), compiled."""

"""Reading order: ``requests`` (and the moves that they become), compiled."""

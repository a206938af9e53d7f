"""Reading order: ``vision`` (views), compiled."""

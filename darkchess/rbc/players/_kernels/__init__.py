"""Reading order: ``families`` (the positions after requests), compiled."""

"""Reading order: ``features`` (of the enemy's pieces), compiled."""

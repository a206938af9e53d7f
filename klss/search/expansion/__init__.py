"""How a trunk grows."""

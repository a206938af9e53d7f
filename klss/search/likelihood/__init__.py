"""How likely it is that the game stands at a state of the belief."""

"""How the next move's subgame is built from what is left of the last one and what player 0 has seen since."""

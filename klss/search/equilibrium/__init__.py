"""How both players' plans on a trunk are made better."""

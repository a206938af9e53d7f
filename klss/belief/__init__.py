"""Weights over an exact set of states, whatever the game."""

"""The synopsis of a set of positions, compiled: ``synopsis``; playouts: ``worlds``."""

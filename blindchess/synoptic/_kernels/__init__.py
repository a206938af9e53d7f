"""The synopsis of a set of positions, compiled: ``synopsis``; sure wins: ``forced``."""

"""The position set of Reconnaissance Blind Chess, compiled: ``position_set``, ``senses``."""

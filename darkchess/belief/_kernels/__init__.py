"""The position set, compiled: ``position_set``, ``position_repair``, ``information``, ``marginals``, ``siamese``."""

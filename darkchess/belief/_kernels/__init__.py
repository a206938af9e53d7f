"""The position set, compiled: ``position_set``, ``position_table``, ``position_repair``, ``information``,
``marginals``, ``siamese``.
"""

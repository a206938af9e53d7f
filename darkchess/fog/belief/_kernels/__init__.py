"""The position set and its weights, compiled.

Reading order: ``position_set``, ``position_repair``, ``information``, ``marginals``, ``policy``, ``filter``.
"""

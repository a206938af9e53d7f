"""Learned beliefs over the states of an exact set: what is likely among what is possible.

Reading order: ``towers``.
"""

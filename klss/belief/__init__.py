"""Learned beliefs over the states of an exact set: what is likely among what is possible.

Reading order: ``towers`` (weights from an observation and a state), ``drawing`` (states drawn by weight), ``greatest``
(the largest of many numbers).
"""

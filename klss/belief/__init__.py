"""Learned beliefs over the states of an exact set: what is likely among what is possible.

Reading order: ``drawing`` (states drawn by weight), ``greatest`` (the largest of many numbers). The weights themselves:
:mod:`klss.networks.towers`.
"""

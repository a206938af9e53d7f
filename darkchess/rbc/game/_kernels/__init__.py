"""Requests and the moves that they become, compiled.

Reading order: ``requests``.
"""

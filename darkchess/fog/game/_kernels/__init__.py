"""Compiled views.

Reading order: ``vision``.
"""

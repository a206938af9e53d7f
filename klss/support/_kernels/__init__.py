"""Compiled parts of :mod:`klss.belief`.

Reading order: ``greatest``.
"""

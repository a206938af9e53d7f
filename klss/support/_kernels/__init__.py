"""Compiled parts of :mod:`klss.support`.

Reading order: ``drawing``.
"""

"""Compiled parts of :mod:`klss.belief`.

Reading order: ``drawing``, ``greatest``; each has the kernel of the module of that name.
"""

"""Compiled parts of :mod:`klss.belief`.

Reading order: ``drawing``, ``greatest``: each the kernel of the module of that name.
"""

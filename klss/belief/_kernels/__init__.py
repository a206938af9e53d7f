"""Compiled parts of :mod:`klss.belief`, in ``greatest``."""

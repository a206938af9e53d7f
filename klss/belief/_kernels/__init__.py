"""Compiled parts of :mod:`klss.belief`."""

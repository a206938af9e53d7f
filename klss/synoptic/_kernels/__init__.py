"""Compiled parts of :mod:`klss.synoptic`."""

"""Compiled parts of :mod:`darkchess.rbc.synoptic`.

Reading order: ``members`` (sets in batches), ``summary`` and ``synopsis`` (planes), ``forced`` (sure wins), ``worlds``
(what senses and requests do).
"""

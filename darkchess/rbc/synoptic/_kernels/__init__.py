"""Compiled parts of :mod:`darkchess.rbc.synoptic`.

Reading order: ``members`` (sets in batches), ``synopsis`` (planes), ``forced`` (sure wins), ``worlds``
(the effects of senses and requests).
"""

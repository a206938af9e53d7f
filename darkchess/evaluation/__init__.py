"""What a position is worth.

Reading order: ``registry`` (their names, and what a caller asks of one), ``evaluator`` (the base class, and the
built-in evaluator), ``kernels``.

The weights are in the folder ``data``.
"""

"""What a position is worth.

Reading order: ``evaluator`` (the protocol, and the built-in evaluator), ``kernels``.

The weights are in the folder ``data``.
"""

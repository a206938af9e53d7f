"""Evaluators: the values of positions.

Reading order: ``registry`` (the evaluators' names, and a caller's choice of one), ``evaluator`` (the base class, the
built-in evaluator), ``kernels``.

The weights are in the folder ``data``.
"""

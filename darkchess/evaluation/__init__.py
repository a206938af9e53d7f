"""Evaluators: the values of positions.

Reading order: ``registry`` (the evaluators' names), ``choice`` (a caller's choice of one), ``evaluator`` (the base
class, and the built-in evaluator), ``kernels``.

The weights are in the folder ``data``.
"""

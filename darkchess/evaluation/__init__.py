"""Evaluators: the values of positions.

Reading order: ``registry`` (the evaluators' names, and what a caller may choose), ``evaluator`` (the base class, and
the built-in evaluator), ``kernels``.

The weights are in the folder ``data``.
"""

"""Compiled parts of :mod:`klss.networks`.

Reading order: ``towers`` (scores of states), ``winograd`` (convolutions of the residual network).
"""

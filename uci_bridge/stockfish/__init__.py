"""Stockfish as an evaluator.

Reading order: ``uci`` (questions over raw pipes: pipelined, timed, restarted), ``evaluator``.
"""

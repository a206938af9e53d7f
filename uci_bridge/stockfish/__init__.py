"""Stockfish as an evaluator: ``uci`` (questions over raw pipes: pipelined, timed, restarted), ``evaluator``."""

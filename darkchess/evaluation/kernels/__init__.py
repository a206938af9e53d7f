"""The built-in evaluator, compiled: ``features``, ``network``, ``evaluation`` (static and quiescent), ``minimax``."""

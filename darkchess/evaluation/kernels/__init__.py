"""The built-in evaluator, compiled.

Reading order: ``features``, ``network``, ``evaluation`` (static and quiescent), ``minimax``."""

"""The built-in evaluator, compiled.

Reading order: ``features``, ``network``, ``pawn_ending``, ``evaluation`` (static and quiescent), ``minimax``."""

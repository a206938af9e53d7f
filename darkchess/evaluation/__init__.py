"""What a position is worth: ``evaluator`` (the protocol, and the built-in evaluator), ``kernels``, and their weights."""

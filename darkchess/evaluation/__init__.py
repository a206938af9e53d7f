"""What a position is worth: ``evaluator`` (the protocol, and the built-in evaluator), its ``kernels`` and weights."""

"""Planning on synopses: fixed-size summaries of sets of states. Reading order: ``residual``."""

"""Networks that plan Reconnaissance Blind Chess on synopses: ``python -m experiments.rbc_learn``.

Reading order: ``data`` is what is learned from, ``networks`` what learns, ``train`` how.
"""

"""Networks that plan Reconnaissance Blind Chess on synopses: ``python -m experiments.rbc_learn``.

Reading order: ``data`` (what is learned from) and ``imitation`` (who plays it), ``networks`` (what learns), ``learner``
and ``train`` (how), ``selfplay`` (from one's own games), ``measures`` (what came of it).
"""

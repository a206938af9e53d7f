"""Networks that plan Reconnaissance Blind Chess on synopses: ``python -m experiments.rbc_learn``.

Reading order: ``data`` (decisions in shards) and ``imitation`` (plays games for them), ``networks`` (the network and
its losses), ``learner`` and ``train`` (training), ``selfplay`` (learning from own games), ``measures`` (figures of a
network).
"""

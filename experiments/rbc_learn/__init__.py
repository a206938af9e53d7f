"""Networks that plan Reconnaissance Blind Chess on synopses: ``python -m experiments.rbc_learn``.

Reading order: ``data`` (decisions in shards), ``imitation`` (plays games for them), ``blocks`` (of games, each a shard)
and ``processes`` (workers that end with this program), ``networks`` (the network and
its losses), ``learner`` and ``train`` (training), ``selfplay`` (learning from own games), ``measures`` (figures of a
network).
"""

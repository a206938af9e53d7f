"""``klss bench``: the speed of each part of the engine, a signature of its behaviour, and its score on known positions.

Reading order: ``report`` (figures with their spread), ``positions``, ``signature``; then for each bench one file with
one function of the same name: ``tracker`` (the position set), ``search`` (the engine within a move's time),
``evaluator`` (the built-in one), ``equilibrium`` (the linear programs of real searches), ``suite`` (positions whose
right moves are known). Every figure comes from warm runs; ratios are taken within one run.
"""

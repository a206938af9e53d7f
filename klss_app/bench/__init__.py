"""``klss bench``: how fast each part of the engine is here, and one signature of what it does.

``report`` (figures with their spread), ``positions``, ``signature``; then one file and one function of its name a
bench: ``tracker`` (the position set), ``search`` (the engine within a move's time), ``evaluator`` (the built-in one),
``equilibrium`` (the linear programs of real searches). Every figure comes from warm runs; ratios are taken within one
run.
"""

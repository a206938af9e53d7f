"""``klss bench``: how fast each part of the engine is here, one signature of what it does, and how right it plays.

Reading order: ``report`` (figures with their spread), ``positions``, ``signature``; then one file and one function of
its name a bench: ``tracker`` (the position set), ``search`` (the engine within a move's time), ``evaluator`` (the
built-in one), ``equilibrium`` (the linear programs of real searches), ``suite`` (positions where it is known what is
right; the small games that are solved for it are ``bounded``), ``board`` (many games at once in the browser), ``blind``
(Reconnaissance Blind Chess). Every figure comes from warm runs; ratios are taken within one run.
"""

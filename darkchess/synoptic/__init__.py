"""Sets of positions as a network sees them in Fog of War, and playouts over them (:mod:`klss.synoptic`).

Reading order: ``synopsis``, ``worlds``, ``networks``. What Reconnaissance Blind Chess has in common with it is
:mod:`darkchess.board.kernels.summary` and :mod:`darkchess.board.kernels.members`.
"""

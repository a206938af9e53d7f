"""What each part is worth: ``klss2021`` against itself with one thing off, or other.

``python -m experiments.ablations`` plays 100 games against each at 0.1 s a move, and writes ``results/ablations.json``.
``klss2021-paper`` is none of them: it has many things off at once, and ``experiments.head_to_head --players`` plays it.
``klss2021-builtin`` is ``klss2021`` wherever the evaluator is the built-in one, so that match is between Stockfish as
the evaluator (A) and the built-in one (B); it is left out where Stockfish is not installed.
"""

from __future__ import annotations

import sys

from darkchess.players.configuration import CONFIGURATIONS
from experiments.series.runner import Pairing, Series, main

__all__ = ["SERIES"]

_BASE = "klss2021"
_NAMES = [name for name in CONFIGURATIONS if name.startswith(f"{_BASE}-") and name != f"{_BASE}-paper"]


def _pairing(name: str) -> Pairing:
    a = f"{_BASE},evaluator=stockfish" if CONFIGURATIONS[name].evaluator == "builtin" else _BASE
    return Pairing(name.removeprefix(f"{_BASE}-"), a, name)


SERIES = Series(
    "ablations",
    "klss2021 against itself with one thing off, or other",
    games=100,
    time_s=0.1,
    matches=lambda: [_pairing(name) for name in _NAMES],
)

if __name__ == "__main__":
    sys.exit(main(SERIES))

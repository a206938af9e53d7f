"""What each part is worth: ``klss2021`` against itself with one thing off, or other.

``python -m experiments.ablations`` plays 100 games against each at 0.1 s a move, and writes ``results/ablations.json``.
``klss2021-paper`` is none of them: it has many things off at once, and ``experiments.head_to_head --players`` plays it.
The match ``builtin`` is between Stockfish as the evaluator (A) and the built-in one (B); it is left out where Stockfish
is not installed.
"""

from __future__ import annotations

import sys

from experiments.series.runner import Pairing, Series, main

__all__ = ["ABLATIONS", "SERIES"]

_BASE = "klss2021"

ABLATIONS = {
    "noreach": "reach=false",
    "resolve": "gadget=resolve",
    "maxmargin": "gadget=maxmargin",
    "fresh": "nested=false",
    "L50": "particles=50",
    "L800": "particles=800",
    "builtin": "evaluator=builtin",
    "nopenalty": "information=inf",
    "sampled": "purify=false",
    "nocaution": "caution=1",
}
"""Match -> what it changes in ``klss2021``, as a configuration's text says it."""


def _pairing(name: str, change: str) -> Pairing:
    a = f"{_BASE},evaluator=stockfish" if name == "builtin" else _BASE
    return Pairing(name, a, f"{_BASE},{change}")


SERIES = Series(
    "ablations",
    "klss2021 against itself with one thing off, or other",
    games=100,
    time_s=0.1,
    matches=lambda: [_pairing(name, change) for name, change in ABLATIONS.items()],
)

if __name__ == "__main__":
    sys.exit(main(SERIES))

"""What each part of ``kluss`` is worth: ``kluss`` against itself with that part off, or a rival in its place.

``python -m experiments.parts`` plays 100 games against each at 0.1 s a move, and writes ``results/parts.json``. A line
of :data:`PARTS` is all that another part takes.
"""

from __future__ import annotations

import sys

from experiments.series.runner import Pairing, Series, main

__all__ = ["PARTS", "SERIES"]

_BASE = "kluss"

PARTS = {
    "no-caution": "maxmargin_share=0",
    "order-1": "order=1",
    "fresh": "nested=false",
    "even-prior": "value_beta=0",
    "roots-without-budget": "root_node_fraction=inf",
    "purification": "purify=false",
    "resolve-alone": "root=resolve",
    "maxmargin-alone": "root=maxmargin",
    "greedy-walks": "exploration=0",
    "information-penalty": "information=1e7",
}
"""Match -> what it changes in ``kluss``, as a configuration's text says it."""

_ONE_THREAD = Pairing("one-thread", f"{_BASE},threads=2", f"{_BASE},threads=1")
"""Tells something only where a game has two cores to itself (``--workers 1``)."""

SERIES = Series(
    "parts",
    "kluss against itself with one part off, or other",
    games=100,
    time_s=0.1,
    matches=lambda: [*(Pairing(name, _BASE, f"{_BASE},{changes}") for name, changes in PARTS.items()), _ONE_THREAD],
)

if __name__ == "__main__":
    sys.exit(main(SERIES))

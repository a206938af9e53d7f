"""Packaged implicit games (:mod:`klss.theory.implicit`).

Reading order: ``liars_dice`` (the shortest), ``leduc_poker`` (with ``ranks=N``, which OpenSpiel's has not), ``phantom``
(dark hex and phantom tic-tac-toe).
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

from klss.theory.implicit import ImplicitGame

_MODULES = {"liars_dice": "liars_dice", "leduc_poker": "leduc_poker", "dark_hex": "phantom", "phantom_ttt": "phantom"}

_DEFAULTS = {"players": 2, "obstype": "reveal-nothing", "bidding_rule": "reset-face"}
"""OpenSpiel's parameters that have one value here."""


def packaged(game: Any) -> ImplicitGame | None:
    """Return the implicit form of a game string of OpenSpiel, or of a ``pyspiel.Game``; None if there is none here."""
    found = re.fullmatch(r"(\w+)(?:\((.*)\))?", str(game).replace(" ", ""))
    if found is None or found[1] not in _MODULES or found[0] == "leduc_poker":
        return None
    given = dict(pair.partition("=")[::2] for pair in found[2].split(",")) if found[2] else {}
    try:
        values: dict[str, Any] = {key: int(value) if value.isdecimal() else value for key, value in given.items()}
        if "board_size" in values:
            size = values.pop("board_size")
            values = {"num_rows": size, "num_cols": size} | values
        if any(values.pop(key, usual) != usual for key, usual in _DEFAULTS.items()):
            return None
        made: ImplicitGame = getattr(import_module(f"klss.games.{_MODULES[found[1]]}"), found[1])(**values)
    except (TypeError, ValueError):  # also of a number with more digits than Python reads
        return None
    return made

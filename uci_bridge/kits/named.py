"""The kits by their names."""

from __future__ import annotations

import difflib
import importlib
from typing import TYPE_CHECKING, Any

from klss.support.configurations import ConfigurationError

if TYPE_CHECKING:
    from klss.table.kit import Kit

__all__ = ["KITS", "kit_named", "loaded"]

KITS = {"fog": "uci_bridge.kits.fog:FOG", "rbc": "uci_bridge.kits.rbc:RBC"}
"""Name -> where it is."""


def kit_named(name: str) -> Kit:
    """The kit called ``name``, or at ``MODULE:NAME``.

    Raises
    ------
    ConfigurationError
        There is none.
    """
    if name not in KITS and ":" not in name:
        near = difflib.get_close_matches(name, KITS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"expected {', '.join(KITS)}, or MODULE:NAME of a kit"
        raise ConfigurationError(f"--game: got {name[:80]!r}; {hint}")
    kit: Kit = loaded(KITS.get(name, name), "--game")
    return kit


def loaded(place: str, flag: str) -> Any:
    """What stands at ``MODULE:NAME``.

    Raises
    ------
    ConfigurationError
        Nothing does; ``flag`` begins the complaint.
    """
    module, _, name = place.partition(":")
    try:
        return getattr(importlib.import_module(module), name)
    except ImportError as error:
        raise ConfigurationError(f"{flag}: got {place[:80]!r}, which can't be imported ({error})") from None
    except (AttributeError, ValueError):
        raise ConfigurationError(f"{flag}: got {place[:80]!r}, expected MODULE:NAME, with that name in it") from None

"""The kits by their names."""

from __future__ import annotations

import difflib
import importlib
from importlib.metadata import entry_points

from klss.errors import INSTALL_EXTRAS, GameError
from klss.play.kit import ENTRY_POINTS, AnyKit, Kit
from klss.support.configuration_text import ConfigurationError

OPENSPIEL = "openspiel:"
"""The prefix of the names of OpenSpiel's games."""

KITS = {"fog": "uci_bridge.kits.fog:FOG", "rbc": "uci_bridge.kits.rbc:RBC"}
"""Name -> place of the kit, ``MODULE:NAME``."""


def kit_named(name: str) -> AnyKit:
    """The kit called ``name``, here or by an installed package's entry point, of ``openspiel:GAME``, or at
    ``MODULE:NAME``, where a game of OpenSpiel or its class may stand for its kit. Raises ConfigurationError if none is.
    """
    place = KITS.get(name, name)
    if ":" not in place:
        place = next((each.value for each in entry_points(group=ENTRY_POINTS, name=name)), name)
    if ":" not in place:
        near = difflib.get_close_matches(name, KITS, n=1)
        known = f"expected {', '.join(KITS)}, openspiel:GAME, or MODULE:NAME of a kit or a game of OpenSpiel"
        hint = f"did you mean {near[0]}?" if near else known
        raise ConfigurationError(f"--game: got {name[:80]!r}; {hint}")
    if not name.startswith(OPENSPIEL):
        found = loaded(place, "--game")
        if isinstance(found, Kit):
            return found
        name = OPENSPIEL + name
    try:
        from uci_bridge.kits.openspiel import openspiel_kit

        return openspiel_kit(name)
    except ModuleNotFoundError as error:
        if error.name not in ("pyspiel", "open_spiel"):
            raise
        raise ConfigurationError(f"--game: OpenSpiel is not installed; expected it: {INSTALL_EXTRAS}") from None
    except GameError as error:
        raise ConfigurationError(f"--game: {error}") from None


def loaded(place: str, flag: str) -> object:
    """The object at ``MODULE:NAME``. Raises ConfigurationError: there is none; the message begins with ``flag``."""
    module, _, name = place.partition(":")
    try:
        found: object = getattr(importlib.import_module(module), name)
        return found
    except ImportError as error:
        raise ConfigurationError(f"{flag}: got {place[:80]!r}, which can't be imported ({error})") from None
    except (AttributeError, ValueError):
        raise ConfigurationError(f"{flag}: got {place[:80]!r}, expected MODULE:NAME, with that name in it") from None

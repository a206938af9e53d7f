"""The kits by their names."""

from __future__ import annotations

from importlib.metadata import entry_points
from pkgutil import resolve_name

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
        known = f"expected {', '.join(KITS)}, openspiel:GAME, or MODULE:NAME of a kit or a game of OpenSpiel"
        raise ConfigurationError(f"--game: got {name[:80]!r}, {known}")
    if not name.startswith(OPENSPIEL):
        try:
            found = resolve_name(place)
        except (ImportError, AttributeError, ValueError) as error:
            raise ConfigurationError(f"--game: got {place[:80]!r} ({error}), expected MODULE:NAME") from None
        if isinstance(found, Kit):
            return found
        name = OPENSPIEL + name
    try:
        from uci_bridge.kits.openspiel import OpenSpielKit

        return OpenSpielKit(name)
    except ModuleNotFoundError as error:
        if error.name not in ("pyspiel", "open_spiel"):
            raise
        raise ConfigurationError(f"--game: OpenSpiel is not installed; expected it: {INSTALL_EXTRAS}") from None
    except GameError as error:
        raise ConfigurationError(f"--game: {error}") from None

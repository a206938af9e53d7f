"""A player's choices in one flat text, of any game: ``NAME,field=value,…`` (:mod:`klss.support.configurations`).

The fields of a player's parts (its search, say) stand beside its own, in texts, TOML files and results.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, get_type_hints

from klss.errors import KlssError
from klss.support.configurations import ConfigurationError, field_value, within_ranges

__all__ = ["FlatConfiguration", "by_name"]

_Kind = TypeVar("_Kind", bound="FlatConfiguration")


@dataclass(frozen=True)
class FlatConfiguration:
    """What all players have in common; a game's own class adds fields, and the parts that it thinks with."""

    name: str  # as it is named in results; derived ones carry their changes
    player: str  # the kind of player

    PARTS: ClassVar[tuple[str, ...]] = ()
    """The fields that are parts: each a frozen dataclass, or None where the player has no such part."""

    RANGES: ClassVar[Mapping[str, tuple[float, float]]] = {}
    """The least and the most that makes sense, of numbers that do not check themselves."""

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense."""
        for part in (self, *self._parts().values()):
            within_ranges(self.name, part, self.RANGES)

    def fields(self) -> dict[str, Any]:
        """Every field by its name, those of parts beside the player's own: what results hold. An infinite number is a
        text, since JSON has no word for it.
        """
        own = [field.name for field in dataclasses.fields(self) if field.name not in self.PARTS]
        every = {name: getattr(self, name) for name in own}
        for part in self._parts().values():
            every |= dataclasses.asdict(part)
        return {name: str(value) if value in (math.inf, -math.inf) else value for name, value in every.items()}

    def changed(self: _Kind, name: str, changes: dict[str, Any]) -> _Kind:
        """A configuration called ``name`` that differs in some fields, those of parts among them.

        Parameters
        ----------
        name : str
            Its own.
        changes : dict
            Values by field, as a text or TOML says them.

        Raises
        ------
        ConfigurationError
            No such field, or no value of it.
        """
        fixed = {"name", "player", *self.PARTS}
        hints = {field: hint for field, hint in _hints(self).items() if field not in fixed}
        for part in self._parts().values():
            hints |= _hints(part)
        values = {field: field_value(field, value, hints) for field, value in changes.items()}
        for attribute, part in self._parts().items():
            inner = {field: values.pop(field) for field in list(values) if field in _hints(part)}
            try:
                values[attribute] = dataclasses.replace(part, **inner)
            except KlssError as error:
                raise ConfigurationError(f"configuration {name}: {error}") from error
        return dataclasses.replace(self, name=name, **values)

    def _parts(self) -> dict[str, Any]:
        """The parts that the player has, by their fields' names."""
        parts = {name: getattr(self, name) for name in self.PARTS}
        return {name: part for name, part in parts.items() if part is not None}


def by_name(*configurations: _Kind) -> dict[str, _Kind]:
    """The named configurations of a game."""
    return {each.name: each for each in configurations}


def _hints(part: Any) -> dict[str, Any]:
    """The types of a dataclass's fields."""
    hints = get_type_hints(type(part))
    return {field.name: hints[field.name] for field in dataclasses.fields(part)}

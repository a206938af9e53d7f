"""A player's options in one flat text, for any game: ``NAME,field=value,…`` (:mod:`klss.support.configurations`).

In texts, TOML files and results the fields of a player's parts (its search, for example) are on one level with its own.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, get_type_hints

from klss.errors import KlssError
from klss.support.configurations import ConfigurationError, field_value, within_ranges

_Kind = TypeVar("_Kind", bound="FlatConfiguration")


@dataclass(frozen=True)
class FlatConfiguration:
    """The options that all players have; a game's own class adds fields and parts."""

    name: str  # the name in results; derived ones include their changes
    player: str  # the kind of player

    PARTS: ClassVar[tuple[str, ...]] = ()
    """The fields that are parts: each is a frozen dataclass, or None if the player has no such part."""

    RANGES: ClassVar[Mapping[str, tuple[float, float]]] = {}
    """The least and the largest allowed value of numbers that are not checked by their part."""

    def __post_init__(self) -> None:
        """Refuse numbers out of range."""
        for part in (self, *self._parts().values()):
            within_ranges(self.name, part, self.RANGES)

    def fields(self) -> dict[str, Any]:
        """Return every field by its name, those of parts included, as results have them. Infinite numbers become texts,
        since JSON can't represent them.
        """
        own = [field.name for field in dataclasses.fields(self) if field.name not in self.PARTS]
        every = {name: getattr(self, name) for name in own}
        for part in self._parts().values():
            every |= dataclasses.asdict(part)
        return {name: str(value) if value in (math.inf, -math.inf) else value for name, value in every.items()}

    def changed(self: _Kind, name: str, changes: dict[str, Any]) -> _Kind:
        """Return a configuration called ``name`` with some fields changed, also fields of parts.

        Parameters
        ----------
        name : str
            The new configuration's name.
        changes : dict
            Values by field, from a text or TOML.

        Raises
        ------
        ConfigurationError
            No such field, or a value that does not fit.
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
        """Return the parts that the player has, by their fields' names."""
        parts = {name: getattr(self, name) for name in self.PARTS}
        return {name: part for name, part in parts.items() if part is not None}


def by_name(*configurations: _Kind) -> dict[str, _Kind]:
    """Return the configurations of a game by their names."""
    return {each.name: each for each in configurations}


def _hints(part: Any) -> dict[str, Any]:
    """Return the types of a dataclass's fields."""
    hints = get_type_hints(type(part))
    return {field.name: hints[field.name] for field in dataclasses.fields(part)}

"""The texts that choose a configuration: ``NAME``, ``NAME,field=value,…`` or ``FILE.toml`` (``base = "NAME"`` and
fields).

A configuration is a frozen dataclass of choices with a name; every result names its configuration. In texts, TOML files
and results the fields of its parts (a player's search, for example) are on one level with its own.
"""

from __future__ import annotations

import dataclasses
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeVar, get_args, get_type_hints

import msgspec

from klss.errors import KlssError
from klss.support.text import meant, read_text


class ConfigurationError(KlssError, ValueError):
    """A text does not name a configuration, a field of one, or a value of a field; the message says which, and what is
    expected.
    """


def check_ranges(part: Any, ranges: Mapping[str, tuple[float, float]], whose: str = "") -> None:
    """Refuse numbers out of range (the least and the largest allowed by field), of the fields that ``part`` has, by a
    ConfigurationError that begins with ``whose``.
    """
    for field, (least, most) in ranges.items():
        value = getattr(part, field, least)
        if not least <= value <= most:
            expected = f"{least:g} or more" if most == math.inf else f"{least:g} to {most:g}"
            raise ConfigurationError(f"{whose}{field} is {value:g}, expected {expected}")


_Whole = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]

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
            check_ranges(part, self.RANGES, f"configuration {self.name}: ")

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
        """Return a configuration called ``name`` with some fields changed, also fields of parts; ``changes`` are values
        by field, from a text or TOML. Raises ConfigurationError: no such field, or a value that does not fit.
        """
        fixed = {"name", "player", *self.PARTS}
        hints = {field: hint for field, hint in _hints(self).items() if field not in fixed}
        for part in self._parts().values():
            hints |= _hints(part)
        values = {field: _field_value(field, value, hints) for field, value in changes.items()}
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


def chosen(text: str, known: Mapping[str, _Kind], default: str) -> _Kind:
    """Return the configuration that ``text`` describes: ``NAME``, ``NAME,field=value,…`` or the path of a ``.toml``
    file, which changes ``default`` if it names none of those ``known``. Raises ConfigurationError, which names the
    nearest valid name.
    """
    if text.endswith(".toml"):
        return _from_file(Path(text), known, default)
    name, *changes = text.split(",")
    base = _named(name.strip(), known)
    pairs = {}
    for change in changes:
        key, equals, value = change.partition("=")
        if not equals:
            raise ConfigurationError(f"configuration: got {change!r} in {text!r}, expected field=value")
        pairs[key.strip()] = value.strip()
    if not pairs:
        return base
    return base.changed(text, pairs)


def _named(name: str, known: Mapping[str, _Kind]) -> _Kind:
    if name not in known:
        raise ConfigurationError(f"configuration: got {name!r}, expected a known name; {meant(name, known)}")
    return known[name]


def _from_file(path: Path, known: Mapping[str, _Kind], default: str) -> _Kind:
    try:
        content: dict[str, Any] = tomllib.loads(read_text(path))
    except (OSError, ValueError, RecursionError) as error:  # ValueError also: not UTF-8, or a number of many digits
        raise ConfigurationError(f"configuration: can't read {path}: {error}; expected a TOML file") from error
    base = _named(str(content.pop("base", default)), known)
    name = str(content.pop("name", path.stem))
    if coded := next((key for key, value in content.items() if ":" in str(value)), None):
        raise ConfigurationError(
            f"configuration: {path} has {coded} = {content[coded]!r}, expected no code in a file; name it on the "
            f"command line: NAME,{coded}={content[coded]}"
        )
    return base.changed(name, content)


def _field_value(key: str, value: Any, hints: Mapping[str, Any]) -> Any:
    """Return a field's value from text or TOML, converted to the type in ``hints``."""
    if key not in hints:
        raise ConfigurationError(
            f"configuration: got the field {key!r}, expected a known one; {meant(key, sorted(hints))}"
        )
    try:
        found = msgspec.convert(value, _Whole if hints[key] is int else hints[key], strict=False)
    except ValueError:  # of another type, too large, or not Unicode
        found = math.nan
    if found != found:
        raise ConfigurationError(f"configuration: {key} is {value!r}, expected {_expected(hints[key])}")
    return found


def _expected(wanted: Any) -> str:
    words = {bool: "true or false", int: "a whole number below 2^63", float: "a number", str: "a text"}
    return words.get(wanted) or f"one of {', '.join(get_args(wanted))}"

"""The texts that choose a configuration: ``NAME``, ``NAME,field=value,…`` or ``FILE.toml`` (``base = "NAME"`` and
fields).

A configuration is a frozen dataclass of choices with a name; every result names its configuration.
"""

from __future__ import annotations

import difflib
import math
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Protocol, TypeVar, get_args

import msgspec

from klss.errors import KlssError
from klss.support.text import read_text


class ConfigurationError(KlssError, ValueError):
    """A text does not name a configuration, a field of one, or a value of a field; the message says which, and what is
    expected.
    """


_Whole = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]


class _Changeable(Protocol):
    def changed(self, name: str, changes: dict[str, Any], /) -> Any:
        """Return a configuration called ``name`` with some fields changed; their values are those of a text or TOML."""
        ...


_Kind = TypeVar("_Kind", bound=_Changeable)


def chosen(text: str, known: Mapping[str, _Kind], default: str) -> _Kind:
    """Return the configuration that ``text`` describes.

    Parameters
    ----------
    text : str
        ``NAME``, ``NAME,field=value,…`` or the path of a ``.toml`` file.
    known : mapping
        The configurations by their names.
    default : str
        The configuration that a file changes if it names none.

    Raises
    ------
    ConfigurationError
        The text is wrong; the message names the error and the nearest valid name.
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
    derived: _Kind = base.changed(text, pairs)
    return derived


def _named(name: str, known: Mapping[str, _Kind]) -> _Kind:
    if name not in known:
        near = difflib.get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"
        raise ConfigurationError(f"configuration: got {name!r}, expected a known name; {hint}")
    return known[name]


def _from_file(path: Path, known: Mapping[str, _Kind], default: str) -> _Kind:
    try:
        content: dict[str, Any] = tomllib.loads(read_text(path))
    except OSError as error:
        raise ConfigurationError(f"configuration: can't read {path}: {error.strerror}; expected a TOML file") from error
    except ValueError as error:  # not TOML, not UTF-8, or a number with more digits than Python reads
        raise ConfigurationError(f"configuration: {path} is no TOML: {error}") from error
    except RecursionError:
        raise ConfigurationError(f"configuration: {path} is nested too deep; expected field = value") from None
    base = _named(str(content.pop("base", default)), known)
    name = str(content.pop("name", path.stem))
    if coded := next((key for key, value in content.items() if ":" in str(value)), None):
        raise ConfigurationError(
            f"configuration: {path} has {coded} = {content[coded]!r}, expected no code in a file; name it on the "
            f"command line: NAME,{coded}={content[coded]}"
        )
    found: _Kind = base.changed(name, content)
    return found


def field_value(key: str, value: Any, hints: Mapping[str, Any]) -> Any:
    """Return a field's value from text or TOML, converted to the type in ``hints``.

    Raises
    ------
    ConfigurationError
        There is no such field, or the value does not fit.
    """
    if key not in hints:
        near = difflib.get_close_matches(key, sorted(hints), n=1)
        hint = f"did you mean {near[0]}?" if near else f"fields: {', '.join(sorted(hints))}"
        raise ConfigurationError(f"configuration: got the field {key!r}, expected a known one; {hint}")
    try:
        found = msgspec.convert(value, _Whole if hints[key] is int else hints[key], strict=False)
    except ValueError:  # of another type, too large, or not Unicode
        found = math.nan
    if found != found:
        raise ConfigurationError(f"configuration: {key} is {value!r}, expected {_expected(hints[key])}")
    return found


def _expected(wanted: Any) -> str:
    words = {bool: "true or false", int: "a whole number below 2^63", float: "a number"}
    return words.get(wanted) or f"one of {', '.join(get_args(wanted))}"


def within_ranges(name: str, part: object, ranges: Mapping[str, tuple[float, float]]) -> None:
    """Refuse numbers of a configuration that are outside their ranges.

    Parameters
    ----------
    name
        The configuration's name.
    part
        The object with the fields, or some of them.
    ranges
        The least and the largest value by field.

    Raises
    ------
    ConfigurationError
        A number is outside.
    """
    for field, (least, most) in ranges.items():
        value = getattr(part, field, least)
        if not least <= value <= most:
            expected = f"{least:g} or more" if most == math.inf else f"{least:g} to {most:g}"
            raise ConfigurationError(f"configuration {name}: {field} is {value:g}, expected {expected}")

"""Convert a JSON value to a type of :mod:`uci_bridge.protocol.shapes`, or refuse it: where, got, expected.

msgspec finds the fault and its place. The value found there is read from the message; the expected one comes from the
type, or from its ``description`` if the type alone would be unclear. A shape's own ``ValueError`` begins with the place
of the fault within the shape: ``.kind: got …``.
"""

from __future__ import annotations

import re
from typing import Any, TypeVar

import msgspec
from msgspec import inspect

from uci_bridge.errors import ProtocolError

_Shape = TypeVar("_Shape")

_SHOWN = 60
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]")
_MISSING = re.compile(r"Object missing required field `(\w+)`")


def fitted(value: dict[str, Any], shape: type[_Shape]) -> _Shape:
    """``value`` converted to ``shape``. Raises ProtocolError if it does not fit."""
    try:
        return msgspec.convert(value, shape)
    except msgspec.ValidationError as error:
        raise _complaint(str(error), value, shape) from None
    except UnicodeEncodeError as error:
        raise bad("message", error.object, "texts without lone surrogates") from None
    except RecursionError:
        raise ProtocolError("got too deep a nesting, expected a flatter message") from None


def bad(where: str, got: Any, expected: str) -> ProtocolError:
    """The error for one bad value.

    >>> print(bad("ply", "x" * 1000, "a whole number"))  # doctest: +ELLIPSIS
    ply: got 'xxx...x…', expected a whole number
    """
    return ProtocolError(f"{where}: got {_short(got)}, expected {expected}")


def _complaint(message: str, value: Any, shape: type) -> ProtocolError:
    said, _, place = message.rpartition(" - at `$") if message.endswith("`") else (message, "", "")
    if said.startswith((".", ":")):
        return ProtocolError((place.removesuffix("`") + said).removeprefix("."))
    steps: list[str | int] = [name or int(index) for name, index in _STEP.findall(place)]
    if missing := _MISSING.match(message):
        steps.append(missing[1])
    where, kind = "", inspect.type_info(shape)
    for step in steps:
        kind = _part(kind, step)
        if isinstance(step, str):
            where, value = f"{where}.{step}", value.get(step)
        else:
            where, value = f"{where}[{step}]", value[step]
    return bad(where.removeprefix("."), value, _expected(kind))


def _bare(kind: inspect.Type) -> inspect.Type:
    """The type without its null and its description."""
    if isinstance(kind, inspect.UnionType):
        kind = next(each for each in kind.types if not isinstance(each, inspect.NoneType))
    return kind.type if isinstance(kind, inspect.Metadata) else kind


def _part(kind: inspect.Type, step: str | int) -> inspect.Type:
    """The type of a field or an entry."""
    match _bare(kind):
        case inspect.StructType(fields=fields):
            return next(each.type for each in fields if each.encode_name == step)
        case inspect.TupleType(item_types=kinds):
            return kinds[int(step)]
        case inspect.ListType(item_type=entry):
            return entry
    raise AssertionError(f"{kind} has no part {step!r}")


def _expected(kind: inspect.Type) -> str:
    match kind:
        case inspect.UnionType():
            return _expected(next(each for each in kind.types if not isinstance(each, inspect.NoneType)))
        case inspect.Metadata(extra_json_schema={"description": str(text)}):
            return text
        case inspect.LiteralType(values=values):
            return " or ".join(f'"{each}"' for each in values)
        case inspect.IntType(ge=least, le=most):
            return f"a whole number from {least} to {most}"
        case inspect.StrType(min_length=least, max_length=most):
            return f"a text of {_number(least, most)} characters"
        case inspect.ListType(min_length=least, max_length=most):
            return f"a list of {_number(least, most)}"
    return "an object"


def _number(least: int | None, most: int | None) -> str:
    return f"{least} to {most}" if least else f"at most {most}"


def _short(value: Any) -> str:
    """``value`` in short form, for an error message."""
    if isinstance(value, (dict, list)):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
    if isinstance(value, str):
        return repr(value[:_SHOWN] + "…" if len(value) > _SHOWN else value)
    text = "nothing" if value is None else str(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"

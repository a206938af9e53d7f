"""The named configurations of players, and the texts that choose one: ``NAME``, ``NAME,field=value,…`` or
``FILE.toml`` (``base = "NAME"`` and fields).

A configuration is a frozen dataclass of choices; every result names its configuration. It holds no process:
:mod:`uci_bridge.players` finds the evaluator that it names and makes the player.
"""

from __future__ import annotations

import dataclasses
import difflib
import math
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from darkchess.errors import DarkchessError
from darkchess.evaluation import BuiltinEvaluator, Evaluator
from darkchess.one_position import BestGuessPlayer, GreedyPlayer
from darkchess.player import KlssPlayer, Player, RandomPlayer
from klss.search import Search, SearchConfiguration
from klss.search.expansion.deepening import OnePlySearch
from klss.text import read_text

__all__ = ["CONFIGURATIONS", "Configuration", "ConfigurationError", "configuration", "make_player"]


class ConfigurationError(DarkchessError, ValueError):
    """A text names no configuration, no field of one, or no value of a field; the message says which, and what is
    expected.
    """


@dataclass(frozen=True)
class Configuration:
    """One player's choices.

    Attributes
    ----------
    name : str
        As it is named in results; derived ones carry their changes.
    player : "klss", "baseline", "best-guess", "greedy" or "random"
        The kind of player; the fields below matter to those that use them.
    evaluator : "auto", "builtin" or "stockfish"
        Auto: the caller's choice, else the built-in one.
    cap : int
        Most positions in the position set.
    threads : int
        1 or 2, of the position set and of the built-in evaluator; every answer is the same.
    particles, most_carried, information, reach, gadget, nested, memory_mb, expansion, purify, caution
        See :class:`klss.search.SearchConfiguration`.
    """

    name: str = "klss2021"
    player: Literal["klss", "baseline", "best-guess", "greedy", "random"] = "klss"
    evaluator: Literal["auto", "builtin", "stockfish"] = "auto"
    cap: int = 10_000_000
    particles: int = 200
    most_carried: int = 100
    information: float = 1e7
    reach: bool = True
    gadget: Literal["hybrid", "maxmargin", "resolve"] = "hybrid"
    nested: bool = True
    memory_mb: int = 4096
    expansion: Literal["leaf", "node"] = "node"
    threads: int = 2
    purify: bool = True
    caution: float = 3.0

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense."""
        for field in ("cap", "particles", "most_carried", "memory_mb"):
            if getattr(self, field) < 1:
                raise ConfigurationError(
                    f"configuration {self.name}: {field} is {getattr(self, field)}, expected 1 or more"
                )
        if self.threads not in (1, 2):
            raise ConfigurationError(f"configuration {self.name}: threads is {self.threads}, expected 1 or 2")
        if not 1.0 <= self.caution < math.inf:
            raise ConfigurationError(
                f"configuration {self.name}: caution is {self.caution}, expected a number from 1 on (1: the paper's)"
            )
        if not self.information > 0.0:
            raise ConfigurationError(
                f"configuration {self.name}: information is {self.information}, expected a number above 0, inf for none"
            )

    def search(self) -> SearchConfiguration:
        """The search's part."""
        return SearchConfiguration(
            particles=self.particles,
            most_carried=self.most_carried,
            information=self.information,
            reach=self.reach,
            gadget=self.gadget,
            nested=self.nested,
            memory_mb=self.memory_mb,
            expansion=self.expansion,
            purify=self.purify,
            caution=self.caution,
        )


CONFIGURATIONS: dict[str, Configuration] = {
    item.name: item
    for item in (
        Configuration("klss2021"),
        Configuration("klss2021-noreach", reach=False),
        Configuration("klss2021-resolve", gadget="resolve"),
        Configuration("klss2021-maxmargin", gadget="maxmargin"),
        Configuration("klss2021-fresh", nested=False),
        Configuration("klss2021-L50", particles=50),
        Configuration("klss2021-L800", particles=800),
        Configuration("klss2021-builtin", evaluator="builtin"),
        Configuration("klss2021-nopenalty", information=math.inf),
        Configuration("klss2021-sampled", purify=False),
        Configuration("klss2021-nocaution", caution=1.0),
        Configuration("baseline", player="baseline"),
        Configuration("best-guess", player="best-guess"),
        Configuration("greedy", player="greedy", evaluator="builtin"),
        Configuration("random", player="random", evaluator="builtin"),
    )
}
"""The named configurations. ``klss2021`` is the paper's agent, ``klss2021-…`` has one thing off, or other;
``baseline`` is the paper's (§7): one ply of imperfect information, a perfect-information search below it.
"""

_FIELDS = {field.name for field in dataclasses.fields(Configuration)} - {"name"}


def configuration(text: str) -> Configuration:
    """The configuration that ``text`` describes.

    Parameters
    ----------
    text : str
        ``NAME``, ``NAME,field=value,…`` or the path of a ``.toml`` file.

    Raises
    ------
    ConfigurationError
        Names what is wrong, and the nearest right name.

    Examples
    --------
    >>> configuration("klss2021,particles=50,reach=false").particles
    50
    """
    if text.endswith(".toml"):
        return _from_file(Path(text))
    name, *changes = text.split(",")
    base = _named(name.strip())
    pairs = {}
    for change in changes:
        key, equals, value = change.partition("=")
        if not equals:
            raise ConfigurationError(f"configuration: got {change!r} in {text!r}, expected field=value")
        pairs[key.strip()] = _read(key.strip(), value.strip())
    return dataclasses.replace(base, name=text, **pairs) if pairs else base


def _named(name: str) -> Configuration:
    if name not in CONFIGURATIONS:
        near = difflib.get_close_matches(name, CONFIGURATIONS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(CONFIGURATIONS)}"
        raise ConfigurationError(f"configuration: got {name!r}, expected a known name; {hint}")
    return CONFIGURATIONS[name]


def _from_file(path: Path) -> Configuration:
    try:
        content: dict[str, Any] = tomllib.loads(read_text(path))
    except OSError as error:
        raise ConfigurationError(f"configuration: can't read {path}: {error.strerror}; expected a TOML file") from error
    except ValueError as error:  # no TOML, no UTF-8, or a number of more digits than Python reads
        raise ConfigurationError(f"configuration: {path} is no TOML: {error}") from error
    except RecursionError:
        raise ConfigurationError(f"configuration: {path} is nested too deep; expected field = value") from None
    base = _named(str(content.pop("base", "klss2021")))
    name = str(content.pop("name", path.stem))
    return dataclasses.replace(base, name=name, **{key: _read(key, value) for key, value in content.items()})


def _read(key: str, value: Any) -> Any:
    """A field's value from text or TOML, of the field's type."""
    if key not in _FIELDS:
        near = difflib.get_close_matches(key, sorted(_FIELDS), n=1)
        hint = f"did you mean {near[0]}?" if near else f"fields: {', '.join(sorted(_FIELDS))}"
        raise ConfigurationError(f"configuration: got the field {key!r}, expected a known one; {hint}")
    wanted = get_type_hints(Configuration)[key]
    if get_origin(wanted) is Literal:
        if value in get_args(wanted):
            return value
        raise ConfigurationError(f"configuration: {key} is {value!r}, expected one of {', '.join(get_args(wanted))}")
    if wanted is bool:
        if isinstance(value, bool):
            return value
        if str(value).lower() in ("true", "false"):
            return str(value).lower() == "true"
        raise ConfigurationError(f"configuration: {key} is {value!r}, expected true or false")
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, bool) or math.isnan(number) or (wanted is int and not number.is_integer()):
        raise ConfigurationError(
            f"configuration: {key} is {value!r}, expected a {'whole ' if wanted is int else ''}number"
        )
    return int(number) if wanted is int else number


def make_player(chosen: Configuration, evaluator: Evaluator | None = None, *, seed: int = 0) -> Player:
    """The player of a configuration; ``evaluator`` None: the built-in one."""
    valued = evaluator if evaluator is not None else BuiltinEvaluator(threads=chosen.threads)
    if chosen.player == "random":
        return RandomPlayer(seed=seed, cap=chosen.cap, threads=chosen.threads)
    if chosen.player == "greedy":
        return GreedyPlayer(valued, seed=seed, cap=chosen.cap, threads=chosen.threads)
    if chosen.player == "best-guess":
        return BestGuessPlayer(valued, seed=seed, cap=chosen.cap, threads=chosen.threads)
    search = OnePlySearch if chosen.player == "baseline" else Search
    return KlssPlayer(valued, chosen.search(), seed=seed, cap=chosen.cap, threads=chosen.threads, search=search)

"""The named configurations of players, and the texts that choose one (:mod:`klss.configurations`).

A configuration holds no process: :mod:`uci_bridge.players` finds the evaluator that it names and makes the player.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_type_hints

from darkchess.errors import EvaluatorError
from darkchess.evaluation.evaluator import BuiltinEvaluator, Evaluator
from darkchess.evaluation.registry import AUTO, check_evaluator_name, evaluator_class, evaluator_names
from darkchess.fog.game.contest import Player
from darkchess.fog.players.one_position import BestGuessPlayer, GreedyPlayer
from darkchess.fog.players.player import KlssPlayer
from darkchess.fog.players.tracking import RandomPlayer
from klss.configurations import ConfigurationError, chosen, field_value
from klss.search import Baseline, Klss2021, Kluss, SearchConfiguration, SearchConfigurationError

__all__ = [
    "CONFIGURATIONS",
    "PLAYERS",
    "Configuration",
    "ConfigurationError",
    "configuration",
    "main_names",
    "make_player",
]


@dataclass(frozen=True)
class Configuration:
    """One player's choices.

    Attributes
    ----------
    name : str
        As it is named in results; derived ones carry their changes.
    player : str
        The kind of player, a key of :data:`PLAYERS`.
    evaluator : str
        "auto": the caller's choice; else an evaluator's name (:mod:`darkchess.evaluation.registry`).
    cap : int
        Most positions in the position set.
    threads : int
        1 or 2, of the position set, the search and the built-in evaluator; with a node budget every answer is the same.
    ponder : bool
        Whether the player thinks on while the opponent does (:mod:`klss.search.pondering`), whatever limits a move but
        nodes. Only ``kluss`` can; a front end turns it on where a clock runs (:meth:`pondering`).
    search : SearchConfiguration or None
        What the player thinks with; None: without a search of :mod:`klss.search`. In texts and results its fields
        stand beside the others.
    """

    name: str
    player: str
    evaluator: str = AUTO
    cap: int = 10_000_000
    threads: int = 2
    ponder: bool = False
    search: SearchConfiguration | None = None

    def __post_init__(self) -> None:
        """Refuse numbers that make no sense."""
        if self.cap < 1:
            raise ConfigurationError(f"configuration {self.name}: cap is {self.cap}, expected 1 or more")
        if self.evaluator != AUTO:
            try:
                check_evaluator_name(self.evaluator)
            except EvaluatorError:
                expected = f"{AUTO} or {evaluator_names()}"
                raise ConfigurationError(
                    f"configuration {self.name}: evaluator is {self.evaluator!r}, expected {expected}"
                ) from None
        if self.threads not in (1, 2):
            raise ConfigurationError(f"configuration {self.name}: threads is {self.threads}, expected 1 or 2")
        if self.ponder and not self.can_ponder:
            raise ConfigurationError(
                f"configuration {self.name}: ponder is true, expected false: only kluss with an evaluator that two "
                "threads may ask, such as the built-in one, thinks on the opponent's time"
            )

    @property
    def can_ponder(self) -> bool:
        """Whether ``ponder`` may be true: the search can be stopped at once, and the evaluator asked by two threads."""
        if self.search is None or not self.search.ponders:
            return False
        return self.evaluator == AUTO or evaluator_class(self.evaluator).reentrant

    def pondering(self) -> Configuration:
        """This configuration with ``ponder`` where it may be, under the same name."""
        return dataclasses.replace(self, ponder=self.can_ponder)

    def fields(self) -> dict[str, Any]:
        """Every field by its name, the search's beside the others: what results hold. JSON has no infinity: "inf"."""
        every = {field.name: getattr(self, field.name) for field in dataclasses.fields(self) if field.name != "search"}
        every |= {} if self.search is None else dataclasses.asdict(self.search)
        return {name: "inf" if value == math.inf else value for name, value in every.items()}

    def changed(self, name: str, changes: dict[str, Any]) -> Configuration:
        """A configuration that differs in some fields, the search's among them.

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
        hints = _changeable(self)
        values = {key: field_value(key, value, hints) for key, value in changes.items()}
        others = {key: values.pop(key) for key in list(values) if key not in _OWN_FIELDS}
        search = self.search
        if search is not None and others:
            try:
                search = dataclasses.replace(search, **others)
            except SearchConfigurationError as error:
                raise ConfigurationError(f"configuration {name}: {error}") from error
        return dataclasses.replace(self, name=name, search=search, **values)


_OWN_FIELDS = ("evaluator", "cap", "threads", "ponder")
"""The fields of :class:`Configuration` that a text may change."""


def _changeable(chosen: Configuration) -> dict[str, Any]:
    """The types of the fields that a text may change."""
    hints = get_type_hints(Configuration)
    own = {key: hints[key] for key in _OWN_FIELDS}
    return own if chosen.search is None else own | get_type_hints(type(chosen.search))


def _klss_player(chosen: Configuration, evaluator: Evaluator, seed: int) -> Player:
    assert chosen.search is not None
    return KlssPlayer(evaluator, chosen.search, seed=seed, cap=chosen.cap, threads=chosen.threads, ponder=chosen.ponder)


def _plain(
    kind: Callable[..., Player],
) -> Callable[[Configuration, Evaluator, int], Player]:
    """How a player without a search is made."""

    def make(chosen: Configuration, evaluator: Evaluator, seed: int) -> Player:
        return kind(evaluator, seed=seed, cap=chosen.cap, threads=chosen.threads)

    return make


PLAYERS: dict[str, Callable[[Configuration, Evaluator, int], Player]] = {
    "klss": _klss_player,
    "baseline": _klss_player,
    "best-guess": _plain(BestGuessPlayer),
    "greedy": _plain(GreedyPlayer),
    "random": lambda chosen, evaluator, seed: RandomPlayer(seed=seed, cap=chosen.cap, threads=chosen.threads),
}
"""The kinds of players, and how each is made: of its configuration, an evaluator and a seed."""


def _learned(belief: Literal["filter", "siamese", "both"]) -> Kluss:
    """``kluss`` with a learned belief (docs/belief.md); and with twice the caution, since to a belief that was learned
    from those who don't play it a trap is hardly possible: at .1 Black loses his king to 1.c4 d5 2.Qa4+
    (docs/benchmarks.md, `klss bench suite`).
    """
    return Kluss(belief=belief, drawn=True, sharpness=0.75, caution=0.2)


_ALL = 10**9
"""As ``most_carried``: no limit, since no trunk has so many nodes."""

_PAPER = Klss2021(most_carried=_ALL, first="maxmargin", caution=1.0, purify=False)

CONFIGURATIONS: dict[str, Configuration] = {
    item.name: item
    for item in (
        Configuration("klss2021", "klss", search=Klss2021()),
        Configuration("klss2021-paper", "klss", search=_PAPER),
        Configuration("kluss", "klss", search=_learned("filter")),
        Configuration("kluss-value", "klss", search=Kluss(belief="value")),
        Configuration("kluss-filter", "klss", search=_learned("filter")),
        Configuration("kluss-siamese", "klss", search=_learned("siamese")),
        Configuration("kluss-both", "klss", search=_learned("both")),
        Configuration("baseline", "baseline", search=Baseline()),
        Configuration("best-guess", "best-guess"),
        Configuration("greedy", "greedy", evaluator="builtin"),
        Configuration("random", "random", evaluator="builtin"),
    )
}
"""The named configurations. ``klss2021`` is the paper's agent, ``klss2021-paper`` has every deviation off that can be
switched (docs/search.md, "Deviations"); ``baseline`` is the paper's (§7): one ply of imperfect information, a
perfect-information search below it. ``kluss-…`` have other beliefs: ``kluss`` itself has the one that games decided
for, ``kluss-filter``'s, and ``kluss-value`` none that was learned.
"""


def main_names() -> list[str]:
    """The named configurations that are no other's variants.

    >>> main_names()[0]
    'klss2021'
    """
    return [name for name in CONFIGURATIONS if not any(name.startswith(f"{other}-") for other in CONFIGURATIONS)]


def configuration(text: str, known: Mapping[str, Configuration] = CONFIGURATIONS) -> Configuration:
    """The configuration that ``text`` describes.

    Parameters
    ----------
    text : str
        ``NAME``, ``NAME,field=value,…`` or the path of a ``.toml`` file.
    known : mapping
        The configurations by their names.

    Raises
    ------
    ConfigurationError
        Names what is wrong, and the nearest right name.

    Examples
    --------
    >>> configuration("klss2021,particles=50,reach=false").fields()["particles"]
    50
    """
    return chosen(text, known, "klss2021")


def make_player(chosen: Configuration, evaluator: Evaluator | None = None, *, seed: int = 0) -> Player:
    """The player of a configuration; ``evaluator`` None: the built-in one."""
    valued = evaluator if evaluator is not None else BuiltinEvaluator(threads=chosen.threads)
    return PLAYERS[chosen.player](chosen, valued, seed)

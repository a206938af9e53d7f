"""The library's doors, which :mod:`klss` exports: they take games and strategies in the form that callers have.

A *game* is a game string of OpenSpiel or a ``pyspiel.Game``, the path of a ``.efg`` or ``.nfg`` file or a
``pygambit.Game``, a kit of a small game (:mod:`klss.play.small_game`) or its ``MODULE:NAME``, a
:class:`klss.theory.game.Game`, or a :class:`klss.theory.equilibrium.Solution` of one. *Strategies* are in any form of
:func:`klss.theory.policies.strategies`. What is refused is refused by a ``GameError``, by
a ``TooLargeError`` what takes more than these limits, as soon as that is certain:

max_nodes : int
    Most nodes of the game's tree.
memory_mb : int, optional
    Most megabytes of this process; None: no limit.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, NamedTuple

from klss import gambit
from klss.errors import INSTALL_EXTRAS, MAX_NODES, GameError, TooLargeError
from klss.games import packaged
from klss.support.text import printable, read_text
from klss.theory import equilibrium, first_order, policies
from klss.theory.best_response import exploitability
from klss.theory.equilibrium import Solution, SolveStats, Source
from klss.theory.exact import proved
from klss.theory.exact import solve as solve_exactly
from klss.theory.first_order import FirstOrder, FirstOrderMethod
from klss.theory.folding import fold, locked
from klss.theory.game import Game, Named
from klss.theory.implicit import ImplicitForm, ImplicitGame, ImplicitRun
from klss.theory.policies import Exploited, behaviour_of
from klss.theory.sequence_form import sequence_form
from klss.theory.treeplex import behaviour, realization

_GAMES = "a game string, a pyspiel.Game, a path of .efg or .nfg, a pygambit.Game, a kit, a klss.Game or a Solution"

_LONG_S = 24 * 3600.0
"""Seconds from which on an estimate of the time left is not worth telling."""

_TELL_S = 0.5
"""Least seconds between two reports of how many nodes are listed."""

Recall = Literal["names", "history"]


class Progress(NamedTuple):
    """How far a call is; its ``str`` is a line that tells so."""

    what: str  # "nodes" ("histories") while the game is listed, then its "payoffs"; "iterations" of a method; "games"
    done: int
    gap: float | None = None  # after so many iterations, in the game's units
    left_s: float | None = None  # estimated seconds until the gap, or the limit of time

    def __str__(self) -> str:
        gap = "" if self.gap is None else f", gap {self.gap:.2g}"
        return f"{self.done:,} {self.what}{gap}" + ("" if self.left_s is None else f", about {self.left_s:,.0f} s left")


OnProgress = Callable[[Progress], None]


class _Iterations:
    """Reports iterations, and how long they still take if the gap goes on falling by the same power of time."""

    def __init__(self, tell: OnProgress, gap: float, seconds: float | None) -> None:
        self._tell, self._gap, self._seconds = tell, gap, seconds
        self._began, self._seen = time.monotonic(), list[tuple[float, float]]()

    def __call__(self, done: int, gap: float) -> None:
        spent = time.monotonic() - self._began
        self._seen.append((spent, gap))
        before, was = self._seen[len(self._seen) // 2]
        left = math.inf if self._seconds is None else max(0.0, self._seconds - spent)
        if was > gap > self._gap > 0.0 and spent > before > 0.0:
            times = math.log(gap / self._gap) * math.log(spent / before) / math.log(was / gap)
            left = min(left, spent * math.expm1(min(times, 20.0)))
        self._tell(Progress("iterations", done, gap, left if left < _LONG_S else None))


def solve(
    game: Any,
    *,
    method: Literal["lp"] | FirstOrderMethod = "lp",
    exact: bool = False,
    gap: float | None = None,
    seconds: float | None = None,
    lock: Any = None,
    resume: str | Path | None = None,
    recall: Recall = "names",
    max_nodes: int = MAX_NODES,
    memory_mb: int | None = None,
    on_progress: OnProgress | None = None,
) -> Solution:
    """Return an equilibrium of a two-player zero-sum game.

    Parameters
    ----------
    game, max_nodes, memory_mb
        See :mod:`klss.doors`.
    method : "lp" | "pcfr+" | "dcfr" | "cfr+"
        Exact, by linear programming (:func:`klss.theory.equilibrium.solve`), or to a given gap, by regret minimisation
        (:func:`klss.theory.first_order.solve`), for games whose program takes too long or too much memory.
        A game that has an implicit form (:mod:`klss.games`) and more than ``max_nodes`` nodes is not listed; then "lp"
        is "pcfr+", and the solution has plans without names.
    exact : bool
        Value and strategies as fractions, with a proof (:mod:`klss.theory.exact`).
    gap : float, optional
        With regret minimisation: the exploitability at which to stop, in the game's units
        (:data:`klss.theory.first_order.GAP`).
    seconds : float, optional
        Stop after this many seconds with the best found so far; building the game is not counted.
    lock : strategies, optional
        Both players' behaviour at some infosets; it is fixed, and the rest is solved
        (:func:`klss.theory.folding.locked`).
    resume : str or Path, optional
        With regret minimisation: the file of a run, from which it goes on if it exists, and which is written once a
        minute and at the end, also after Ctrl-C.
    recall : "names" | "history"
        See :func:`klss.openspiel.load`.
    on_progress : callable, optional
        Called with a :class:`Progress` now and then; ``print`` will do.

    Returns
    -------
    Solution
        Value, both players' strategies, and the exploitability as recomputed by best responses.

    Examples
    --------
    >>> import klss
    >>> klss.solve("kuhn_poker", exact=True).value
    Fraction(-1, 18)
    """
    iterated = method in first_order.METHODS
    if not iterated and method != "lp":
        raise GameError(f"method {method!r}: expected one of lp, {', '.join(first_order.METHODS)}")
    if exact and (iterated or lock is not None):
        raise GameError("exact: got it with lock or regret minimisation, expected it without")
    most, wanted = _bytes(memory_mb), first_order.GAP if gap is None else gap

    def iterate(form: Any, kind: type[FirstOrder] = FirstOrder) -> Solution:
        return first_order.solve(
            form, method=method if iterated else "pcfr+", gap=wanted, seconds=seconds, max_bytes=most,
            resume=None if resume is None else Path(resume), kind=kind,
            on_progress=on_progress and _Iterations(on_progress, wanted, seconds),
        )  # fmt: skip

    if (rules := implicit_game(game, max_nodes)) is not None:
        if exact or lock is not None:
            raise GameError(f"exact, lock: got one with {rules.name}, which is not listed, expected neither")
        unlisted = _implicit(rules, most, on_progress)
        return replace(iterate(unlisted, ImplicitRun), source=Source(rules.name, implicit=unlisted))
    if not iterated and not (gap is None and resume is None):
        raise GameError(f"gap, resume: got one with method {method!r}, expected {', '.join(first_order.METHODS)}")
    lock = policies.opened(lock, most)
    lock = [*map(_at_all, lock)] if isinstance(lock, tuple | list) else _at_all(lock)
    listed, source = _listed(game, recall, max_nodes, most, on_progress, alike=lock is None and not exact)
    form = sequence_form(listed)
    if on_progress is not None:
        on_progress(Progress("payoffs", int(form.payoff.nnz)))
    if exact:
        return replace(solve_exactly(form, time_limit_s=seconds, max_bytes=most), source=source)
    # Locked infosets are no choices: solve the smaller game of the free ones, then add the locked ones again.
    fixed = None
    if lock is not None:
        first, second = policies.strategies(lock, listed, source.spiel)
        given = behaviour_of(listed, 0, first, partial=True), behaviour_of(listed, 1, second, partial=True)
        fixed = locked(form, given)
    folded = fold(form if fixed is None else fixed.form)
    if iterated:
        found = iterate(folded.form)
    else:
        found = equilibrium.solve(folded.form, time_limit_s=seconds, max_bytes=most)
    found = folded.restored(found)
    return replace(found if fixed is None else fixed.restored(found), source=source)


def _at_all(given: Any) -> Any:
    """Return the uniform strategy, if ``given`` is its name, so that it names all infosets; anything else as it is."""
    uniform = isinstance(given, str) and policies.is_uniform(given)
    return (lambda _, names: [1.0 / len(names)] * len(names)) if uniform else given


def load(path: str | Path, game: Any = None) -> Solution:
    """Return what :meth:`Solution.save` or ``klss solve --out`` wrote; the value and the exploitability are computed
    again. Fractions of an exact solution stay fractions. The file names its game, if none is given; a game of a module
    has to be given, since naming it imports the module.

    >>> import klss, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     klss.solve("kuhn_poker", exact=True).save(f"{folder}/kuhn.json")
    ...     klss.load(f"{folder}/kuhn.json").value
    Fraction(-1, 18)
    """
    strategies = policies.read_policy(Path(path))
    about = json.loads(read_text(Path(path)))
    if game is None:
        game = about.get("game")
        if not isinstance(game, str) or (":" in game and not _is_of_gambit(game)):
            raise GameError(
                f"{path}: got the game {printable(repr(game), 80)}, which no file may name; expected load(path, game)"
            )
    # The names of histories begin with a line break (klss.openspiel.observations.history_name).
    recall: Recall = "history" if any(key.startswith("\n> ") for each in strategies for key in each) else "names"
    listed, source = _listed(game, recall, alike=about.get("alike") is True)
    if not listed.whole:
        strategies = _listed_of(strategies[0], listed, 0), _listed_of(strategies[1], listed, 1)
    form = sequence_form(listed)
    x, y = (realization(listed.treeplex(i), behaviour_of(listed, i, strategies[i])) for i in (0, 1))
    value, gap = form.value(x, y), exploitability(form, x, y)
    stats = SolveStats(0, 0, int(form.payoff.nnz), str(about.get("method", "file")), 0, 0.0, ())
    good = gap <= equilibrium.tolerance(form, value)
    found = Solution(value, x, y, "optimal" if good else "iteration_limit", gap, stats, listed, source=source)
    return proved(found, strategies)


def _listed_of(named: Named, game: Game, player: int) -> Named:
    """Return what a strategy says at listed infosets. Raises GameError: it says another thing at those alike."""
    observations = game.observations[player]
    keys, alike = [str(observations.keys[j]) for j in observations.turn_infosets], observations.alike
    if alike is None or named != {each: named.get(key) for key in keys for each in alike(key)}:
        raise GameError(f"policy of player {player}: expected the same at infosets that are alike, or no key 'alike'")
    return {key: named[key] for key in keys}


def exploit(
    game: Any,
    policy: Any,
    *,
    player: int | None = None,
    games: int = 200,
    nodes: int = 1000,
    seconds: float | None = None,
    seed: int = 0,
    recall: Recall = "names",
    max_nodes: int = MAX_NODES,
    memory_mb: int | None = None,
    on_progress: OnProgress | None = None,
) -> list[Exploited]:
    """Return what a best response wins against the strategies of both players, or of one.

    If a game of OpenSpiel is too large to list, a searching responder plays against the strategy, and what it wins is a
    lower bound (:mod:`klss.openspiel.exploiter`).

    Parameters
    ----------
    game, recall, max_nodes, memory_mb, on_progress
        See :func:`solve`.
    policy : strategies
        See :mod:`klss.doors`.
    player : int, optional
        The one player whose strategy is exploited; None: both.
    games, nodes, seconds, seed
        See :func:`klss.openspiel.exploiter.what_it_wins`.

    Examples
    --------
    >>> import klss
    >>> klss.exploit("kuhn_poker", "uniform", player=0)
    [<player 0's strategy: -0.416667 against a best response, 0.125 against the other>]
    >>> first, second = klss.exploit("kuhn_poker", lambda infoset, actions: {"Pass": 0.9, "Bet": 0.1})
    >>> first.where[0][0]  # where it wins most: player 1 has the jack, and the other has passed
    '0p'
    """
    players = (0, 1) if player is None else (_checked(player),)
    most = _bytes(memory_mb)
    policy = policies.opened(policy, most)
    if policies.is_uniform(policy) and (rules := implicit_game(game, max_nodes)) is not None:
        return [policies.exploit_uniform(_implicit(rules, most, on_progress), i) for i in players]
    try:
        listed, source = _listed(game, recall, max_nodes, most, on_progress)
    except TooLargeError:
        if not _is_of_openspiel(_named(game)):
            raise
    else:
        named = policies.strategies(policy, listed, source.spiel)
        behaviours = behaviour_of(listed, 0, named[0]), behaviour_of(listed, 1, named[1])
        form = sequence_form(listed)
        return [replace(policies.exploit(form, behaviours, i, source.constant), named=len(named[i])) for i in players]
    from klss.openspiel.exploiter import Strategy, what_it_wins
    from klss.openspiel.games import spiel_game

    spiel, named = spiel_game(game)[0], policies.strategies(policy, None)
    return [
        what_it_wins(
            spiel, Strategy(spiel, i, named[i]), games=games, nodes=nodes, seconds=seconds, seed=seed,
            on_game=on_progress and (lambda n: on_progress(Progress("games", n))),
        )
        for i in players
    ]  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class Resolved:
    """A subgame that was solved again."""

    player: int
    infoset: str  # of that player, where it begins
    margin: float  # the least gain over the blueprint at an infoset of the other player, in the game's units
    game: Game  # the gadget; the player is its player 0
    before: Named  # the player's blueprint in the subgame
    after: Named  # its new strategy there

    @property
    def changed(self) -> dict[str, dict[str, tuple[float, float]]]:
        """The infosets at which the strategy has changed, and each action's probability before and after."""
        pairs = {
            key: {action: (float(self.before[key][action]), float(p)) for action, p in actions.items()}
            for key, actions in self.after.items()
        }
        return {key: each for key, each in pairs.items() if max(abs(old - new) for old, new in each.values()) > 1e-9}

    def __repr__(self) -> str:
        changed = ", ".join(map(repr, self.changed)) or "nothing"
        return f"<subgame at player {self.player}'s {self.infoset!r}: margin {self.margin:.6g}, {changed} changed>"


def subgame(
    game: Any,
    infoset: str,
    blueprint: Any = None,
    *,
    player: int = 0,
    recall: Recall = "names",
    max_nodes: int = MAX_NODES,
    memory_mb: int | None = None,
    on_progress: OnProgress | None = None,
) -> Resolved:
    """Solve a game again below an infoset at which ``player`` moves, by 1-KLSS with a Maxmargin gadget
    (:mod:`klss.paper.subgame`).

    Parameters
    ----------
    game, recall, max_nodes, memory_mb, on_progress
        See :func:`solve`. Gambit's games are refused: the player that waits observes nothing in them.
    infoset : str
    blueprint : strategies, optional
        See :mod:`klss.doors`; None: an equilibrium.
    player : int

    Examples
    --------
    >>> import klss
    >>> klss.subgame("kuhn_poker", "0pb", "uniform").changed  # the jack folds
    {'0pb': {'Pass': (0.5, 1.0), 'Bet': (0.5, 0.0)}}
    """
    from klss.paper.nested import Blueprint, solve_at
    from klss.paper.tables import mirrored

    _checked(player)
    most = _bytes(memory_mb)
    listed, source = _listed(game, recall, max_nodes, most, on_progress)
    form = sequence_form(listed)
    blueprint = solve(listed, memory_mb=memory_mb) if blueprint is None else policies.opened(blueprint, most)
    if isinstance(blueprint, Solution) and (blueprint.game is None or blueprint.game.whole):
        x = (blueprint.x, blueprint.y)[player]
        if x.size != form.treeplexes[player].sequence_count:
            raise GameError("subgame: got a blueprint of another game, expected one of this game")
    else:
        named = policies.strategies(blueprint, listed, source.spiel)[player]
        x = realization(form.treeplexes[player], behaviour_of(listed, player, named))
    view, factor = listed if player == 0 else mirrored(listed), equilibrium.scaling(form)
    view = replace(view, utility=view.utility * factor)
    observations = view.observations[0]
    turn = {str(observations.keys[j]): j for j in observations.turn_infosets.tolist()}
    if infoset not in turn:
        raise GameError(f"subgame: got {infoset!r}, expected an infoset at which player {player} moves")
    made, step = solve_at(view, Blueprint(x), turn[infoset])
    old = behaviour(view.treeplex(0), x)[step.sequences]
    before, after = (equilibrium.named(made.game, 0, each.tolist()) for each in (old, step.behaviour))
    return Resolved(player, infoset, step.margin / factor, made.game, before, after)


def implicit_game(game: Any, max_nodes: int = MAX_NODES) -> ImplicitGame | None:
    """Return the rules of a game that is solved without listing it: those given, or those of a game of OpenSpiel that
    has more than ``max_nodes`` nodes; None for any other game.
    """
    if isinstance(game, str) and ":" in game:
        game = _named(game)
    if isinstance(game, ImplicitGame) or not _is_of_openspiel(game):
        return game if isinstance(game, ImplicitGame) else None
    rules = packaged(game)
    return rules if rules is not None and rules.histories > max_nodes else None


def _implicit(rules: ImplicitGame, most: int | None, on_progress: OnProgress | None) -> Any:
    return ImplicitForm(
        rules, max_bytes=most, on_progress=on_progress and (lambda done: on_progress(Progress("histories", done)))
    )


def _checked(player: int) -> int:
    if player not in (0, 1):
        raise GameError(f"player: got {player!r}, expected 0 or 1")
    return player


def _bytes(memory_mb: int | None) -> int | None:
    return None if memory_mb is None else 1_000_000 * memory_mb


def _listed(
    given: Any,
    recall: Recall = "names",
    max_nodes: int = MAX_NODES,
    most: int | None = None,
    on_progress: OnProgress | None = None,
    alike: bool = False,
) -> tuple[Game, Source]:
    """Return a game and where it comes from; ``alike`` is that of :func:`klss.openspiel.load`."""
    if isinstance(given, Game):
        return given, Source()
    if isinstance(given, Solution) and given.game is not None:
        if alike or given.game.whole:
            return given.game, given.source
        given = given.source.spiel
    if isinstance(given, Solution) and given.game is None:
        raise GameError("game: got a solution of a game that is not listed, expected the game itself")
    if _is_of_gambit(given):
        file = gambit.read(given, max_nodes, most)
        return file.game, Source(str(given), file.constant)
    if hasattr(given, "to_efg"):
        try:
            text = given.to_efg()
        except Exception:  # a game in strategic form; which error that is depends on the version
            text = given.to_nfg()
        file = gambit.parse(text, "pygambit.Game", max_nodes)
        return file.game, Source(file.title, file.constant)
    told = time.monotonic()

    def tell(nodes: int) -> None:
        nonlocal told
        if on_progress is not None and time.monotonic() - told > _TELL_S:
            told = time.monotonic()
            on_progress(Progress("nodes", nodes))

    given = _named(given)
    if _is_kit(given):
        from klss.play.listed import listed

        return listed(given, max_nodes, most, tell), Source(given.name)
    if not _is_of_openspiel(given):
        raise GameError(f"game: got a {type(given).__name__}, expected {_GAMES}")
    game = openspiel().load(given, max_nodes=max_nodes, max_bytes=most, recall=recall, alike=alike, on_progress=tell)
    spiel, name = openspiel().games.spiel_game(given)
    return game, Source(name, spiel=spiel)


def openspiel() -> ModuleType:
    """Return :mod:`klss.openspiel`. Raises GameError: OpenSpiel can't be loaded."""
    try:
        return import_module("klss.openspiel")
    except ImportError as error:
        raise GameError(f"OpenSpiel can't be loaded: {error}; expected it: {INSTALL_EXTRAS}") from error


def _named(given: Any) -> Any:
    """Return the kit or implicit game that ``MODULE:NAME`` names; any other game as it is."""
    named = openspiel().games.of_module(given) if isinstance(given, str) and not _is_of_gambit(given) else given
    return named if _is_kit(named) or isinstance(named, ImplicitGame) else given


def _is_kit(given: Any) -> bool:
    return hasattr(given, "begun")  # a PlainKit, without the import of what plays games


def _is_of_gambit(given: Any) -> bool:
    return isinstance(given, str | Path) and str(given).lower().endswith((".efg", ".nfg"))


def _is_of_openspiel(given: Any) -> bool:
    spiel = sys.modules.get("pyspiel")  # who has a game of it has imported it
    named = isinstance(given, str) and not _is_of_gambit(given)
    return named or (spiel is not None and isinstance(given, spiel.Game))

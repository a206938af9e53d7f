"""One game of a match: from its number, seed and opening to its lines, as any worker plays it.

Most players run in processes of their own, which play game after game. A configuration is played by ``klss engine``, a
command by its program. Both speak the engine protocol, so neither side of a match can see more than its observations.
None outlives this process.

The players' seeds are derived from the game's as in ``klss play`` (:mod:`klss.support.seeds`), so that ``klss play
--seed`` with a line's ``seed`` and the same node budget replays a game without an opening. With a node budget a game is
a function of the setup, its number, seed and opening; it does not depend on the worker.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal, NotRequired, TypedDict

import msgspec

from darkchess.evaluation.registry import EvaluatorChoice
from klss.play.arbiter import SEATS, AnyPlayed, Arbiter
from klss.play.contest import AnyPlayer, AnyReferee, TruthCount
from klss.play.kit import AnyKit, AnyMaker, Spec
from klss.play.limits import Limit
from klss.play.messages import COLOR_NAMES
from klss.play.outcome import Seat
from klss.support.seeds import NATURE, player_seed
from klss.support.text import Document
from uci_bridge.errors import FAULT_SHOWN, UciBridgeError
from uci_bridge.match.openings import Opening
from uci_bridge.players import PlayerMaker
from uci_bridge.protocol.codec import fit_to_keep

Side = Literal["a", "b"]
"""One of a match's two players."""

SIDES: tuple[Side, Side] = ("a", "b")

Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class TruthLine(TypedDict):
    """``truth`` of a game's line, in test mode."""

    checks: Count
    lost: Count
    sampled: Count


class GameLine(TypedDict):
    """A line of ``games.jsonl``; in a file that is read it may have others, and lack those that are not required."""

    game: Count
    pair: Count
    white: NotRequired[str]
    black: NotRequired[str]
    result: NotRequired[str]
    reason: str
    winner: Side | None
    plies: Count
    opening: NotRequired[str | None]
    seed: NotRequired[int]
    seconds: NotRequired[float]
    fault: NotRequired[str]
    trouble: NotRequired[dict[Side, str]]
    truth: NotRequired[TruthLine]


def sides(game: int) -> dict[Seat, Side]:
    """The side in each seat: A has White in the games of even number."""
    return {True: "a" if game % 2 == 0 else "b", False: "b" if game % 2 == 0 else "a"}


@dataclass(frozen=True)
class GameTask:
    """A game to be played."""

    game: int  # its number; games 2k and 2k+1 are pair k
    seed: int
    opening: Opening = field(default_factory=Opening)  # its pair's


@dataclass(frozen=True)
class GameResult:
    """A game that was played."""

    line: GameLine  # for ``games.jsonl``
    record: str  # the game, as a text
    moves: list[Document]  # for ``moves.jsonl``: each turn that a player played, with its diagnostics
    suffix: str = ".pgn"  # of the file that the record is kept in


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """The part that all games of a match have in common; it is sent to the workers."""

    kit: AnyKit
    # the players (``uci_bridge.players.player_spec``)
    a: Spec
    b: Spec
    budget: Limit  # the limits of both players
    rules: str | None = None  # the games' ruleset, one of the kit's; None for the usual one
    # for configurations that leave their evaluator open
    evaluator: EvaluatorChoice = field(default_factory=EvaluatorChoice)
    # test mode: after each observation check that the true state is in the player's set. The check is on the referee's
    # side, and players learn nothing from it. Configurations then play in the worker's own process
    check_truth: bool = False

    def spec(self, side: Side) -> Spec:
        """The player of that side."""
        return self.a if side == "a" else self.b

    def evaluator_label(self, side: Side) -> str | None:
        """The name of that side's evaluator, as people read it; None if it has none, or it is unknown."""
        spec = self.spec(side)
        return self.kit.label(spec, self.evaluator) if self.kit.is_ours(spec) else None

    def programs(self) -> dict[str, str | None]:
        """The evaluators' programs, and their versions."""
        found: dict[str, str | None] = {}
        for spec in filter(self.kit.is_ours, (self.a, self.b)):
            found |= self.kit.versions(spec, self.evaluator)
        return found


class Engines:
    """The players of one worker, for one game at a time."""

    def __init__(self, match: Conditions) -> None:
        self.closed = False
        self._makers: dict[Side, PlayerMaker | AnyMaker] = {}
        kit = match.kit
        for side in SIDES:
            spec = match.spec(side)
            if match.check_truth and kit.is_ours(spec):
                self._makers[side] = maker = kit.maker(spec, match.evaluator, kit.setup(None, match.rules))
                player = maker.player(0)
                kit.warm_up(player, SEATS[0])
                player.close()
            else:
                self._makers[side] = PlayerMaker(kit, spec, match.evaluator, match.budget, whole=True)

    def player(self, side: Side, seed: int) -> AnyPlayer:
        """The player of a side for one game."""
        return self._makers[side].player(seed)

    def get_ready(self) -> None:
        """Start the processes that do not run, and have them load their code before a clock runs."""
        makers = [maker for maker in self._makers.values() if isinstance(maker, PlayerMaker)]
        for maker in makers:
            maker.start()
        for maker in makers:
            maker.warm_up()

    def close(self, *, at_once: bool = False) -> None:
        """End the processes; ``at_once``: kill them without waiting. A game that is played ends at its next turn."""
        self.closed = True
        for maker in self._makers.values():
            if isinstance(maker, PlayerMaker):
                maker.close(at_once=at_once)
            else:
                maker.close()


class MatchEnded(UciBridgeError):
    """The match has ended during a game."""


def play_game(match: Conditions, task: GameTask, engines: Engines) -> GameResult:
    """Play a game to its end; a fault of an engine loses it the game and raises nothing.

    Raises NeverAnswered: a program failed before its first answer; MatchEnded.
    """
    kit = match.kit
    start = kit.setup(task.opening.fen, match.rules)
    referee = kit.referee(start, task.opening.moves, player_seed(task.seed, NATURE))
    side_of = sides(task.game)
    engines.get_ready()
    if engines.closed:
        raise MatchEnded
    players = {seat: engines.player(side, player_seed(task.seed, COLOR_NAMES[seat])) for seat, side in side_of.items()}
    moves: list[Document] = []  # for ``moves.jsonl``; what an engine reports never replaces a field of ours

    def on_turn(played: AnyPlayed) -> None:
        if engines.closed:
            raise MatchEnded
        named = {
            "game": task.game,
            "ply": played.ply,
            "player": side_of[played.seat],
            **kit.line(referee, played),
            "seconds_wall": round(played.seconds, 4),
        }
        said = fit_to_keep(played.decision.diagnostics)  # the same from this process and from another
        moves.append(named | {key: value for key, value in said.items() if key not in named})

    truth = TruthCount() if match.check_truth else None
    begin = time.monotonic()
    try:
        Arbiter(referee, players, dict.fromkeys(SEATS, match.budget), on_turn, truth).play()
    finally:
        for player in players.values():
            player.close()
    seconds = time.monotonic() - begin
    line = _line(match, task, referee, players, seconds)
    if truth is not None:
        line["truth"] = {"checks": truth.checks, "lost": truth.lost, "sampled": truth.sampled}
    return GameResult(line, kit.record(referee, _headers(match, task)), moves, kit.suffix)


def _headers(match: Conditions, task: GameTask) -> dict[str, str]:
    """The headers of the game's record: the match and its players."""
    headers = {"Event": "klss match", "Round": str(task.game), "Seed": str(task.seed)}
    for seat, side in sides(task.game).items():
        color = COLOR_NAMES[seat].capitalize()
        headers[color] = match.spec(side).name
        label = match.evaluator_label(side)
        if label is not None:
            headers[f"{color}Evaluator"] = label
    return headers


def _line(
    match: Conditions, task: GameTask, referee: AnyReferee, players: Mapping[Seat, AnyPlayer], seconds: float
) -> GameLine:
    """The line of ``games.jsonl`` of a game that ended."""
    side_of, outcome = sides(task.game), referee.outcome
    assert outcome is not None
    line: GameLine = {
        "game": task.game,
        "pair": task.game // 2,
        "white": match.spec(side_of[True]).name,
        "black": match.spec(side_of[False]).name,
        "result": outcome.result,
        "reason": outcome.reason,
        "winner": None if outcome.winner is None else side_of[outcome.winner],
        "plies": referee.ply,
        "opening": task.opening.text(),
        "seed": task.seed,
        "seconds": round(seconds, 3),
    }
    faults = {seat: (players[seat].last_fault or "")[:FAULT_SHOWN] for seat in SEATS}
    lost_by_fault = outcome.reason in ("forfeit", "flag") and outcome.winner is not None
    if lost_by_fault and faults[not outcome.winner]:
        line["fault"] = faults[not outcome.winner]
    elif any(faults.values()):
        line["trouble"] = {side_of[seat]: fault for seat, fault in faults.items() if fault}
    return line

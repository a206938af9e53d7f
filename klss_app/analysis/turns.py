"""The record of each turn of a finished game, of any kit: each side's engine gets this side's observations alone, and
thinks at each of its turns; the answer that was played is compared with that, and with the true game, afterwards.

A game with an analysis of its own has a subclass of :class:`Analysis`, named in :data:`OWN`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import closing
from pkgutil import resolve_name
from typing import Any, Generic

import chess

from darkchess.evaluation.registry import EvaluatorChoice
from klss.play.arbiter import SEATS
from klss.play.contest import Answer, AnyDecision, Forfeit, Observation, OutOfTime, Resignation, Setup
from klss.play.kit import AnyKit, AnyReplay, Configuration, TrueGame
from klss.play.limits import Limit
from klss.play.outcome import Seat
from klss_app.analysis.summaries import CAP, MOST_MOVES, Choice, Move, Possible, Turn, because, mark, rounded
from klss_app.front import front_of, show, worded

OWN = {"fog": "klss_app.analysis.fog:FogAnalysis", "rbc": "klss_app.analysis.rbc:RbcAnalysis"}
"""Game -> its own analysis."""


class Analysis(Generic[Configuration, TrueGame, Setup, Observation, Answer]):
    """The analysis of one game from ``setup`` by the engine ``chosen``; this class takes any game whose engine it is.
    ``choice`` is of the evaluator, if the configuration leaves it open; ``cap`` bounds either side's set, where there
    are sets.
    """

    def __init__(
        self, kit: AnyKit, chosen: Configuration, choice: EvaluatorChoice, setup: Setup, *, seed: int, cap: int
    ) -> None:
        front = front_of(kit)
        self._maker = kit.maker(chosen, choice, setup)
        self._players = {seat: self._maker.player(seed) for seat in SEATS}
        self._known = {seat: front.known(seat, setup) for seat in SEATS}
        self._held: dict[str, Possible | None] = dict.fromkeys(chess.COLOR_NAMES[::-1])
        self._decision: AnyDecision | None = None
        for seat, player in self._players.items():
            player.begin(seat, setup)

    @staticmethod
    def takes(chosen: Configuration) -> bool:
        """Whether the engine can analyse."""
        return True

    def observe(self, seat: Seat, observation: Observation) -> None:
        """Give a side its observation."""
        self._players[seat].observe(observation)
        self._known[seat].observe(observation)

    def think(self, seat: Seat, question: str, limit: Limit) -> None:
        """Think about a side's question, from its observations alone."""
        try:
            self._decision = self._players[seat].answer(question, limit)
        except (Resignation, OutOfTime, Forfeit):
            self._decision = None

    def record(self, game: TrueGame, ply: int, seat: Seat, answer: Answer) -> Turn:
        """Return the record of the turn in which ``answer`` was given, beside what was thought before."""
        player, known, decision = self._players[seat], self._known[seat], self._decision
        color = chess.COLOR_NAMES[seat]
        said = {} if decision is None else decision.diagnostics
        size, value = said.get("positions"), said.get("value")
        self._held[color] = (size, said.get("capped_by") is not None) if isinstance(size, int) else None
        # The strategy, the most played first; an engine that tells none plays its answer.
        mixture: dict[Any, float | None] = {} if decision is None else {**player.mixture} or {decision.answer: None}
        values = player.values()
        order = sorted(mixture, key=lambda each: -(mixture[each] or 0.0))
        moves: list[Move] = [
            {"move": text, "san": text, "p": rounded(mixture[each]), "value": rounded(values.get(each))}
            for each in order
            for text in [worded(known, each)]
        ]
        # Costs, if all that is played has a value.
        shares = {each: 1.0 if p is None else p for each, p in mixture.items()}
        mean = math.fsum(p * values.get(each, math.nan) for each, p in shares.items() if p) if shares else math.nan
        costs = {each: mean - worth for each, worth in values.items() if not math.isnan(mean)}
        played, loss = worded(known, answer), rounded(costs.get(answer))
        return {
            "ply": ply,
            "color": color,
            "positions": dict(self._held),
            "beliefs": {side: {} for side in self._held},
            "value": rounded(value) if isinstance(value, float) and math.isfinite(value) else None,
            "truth": None,
            "moves": moves[:MOST_MOVES],
            "tries": {text: [text, rounded(costs.get(each))] for text, each in known.answers().items()},
            "lines": [],
            "played": {
                "san": played,
                "move": played,
                "p": rounded(mixture.get(answer, 0.0 if player.mixture else None)),
                "loss": loss,
                "mark": mark(loss),
                "turned": None,
            },
            "best": {"san": moves[0]["san"], "move": moves[0]["move"], "p": moves[0]["p"]} if moves else _RESIGNS,
            "because": because(loss),
        }

    def close(self) -> None:
        """Free all resources."""
        for player in self._players.values():
            player.close()
        self._maker.close()


_RESIGNS: Choice = {"san": "resign", "move": None, "p": None}

AnyAnalysis = Analysis[Any, Any, Any, Any, Any]
"""The analysis of a game that was chosen by name."""


def analysis_of(kit: AnyKit) -> type[AnyAnalysis]:
    """The class that analyses a kit's games."""
    found: type[AnyAnalysis] = resolve_name(OWN.get(kit.name, f"{__name__}:Analysis"))
    return found


def turns(
    kit: AnyKit,
    replay: AnyReplay,
    chosen: Any,
    choice: EvaluatorChoice,
    limit: Limit,
    *,
    seed: int = 0,
    cap: int = CAP,
    first: int = 0,
) -> Iterator[Turn]:
    """The record of every turn of a game from ``first`` on; ``limit`` is that of each question. With nodes nothing
    reads a clock. See :class:`Analysis`.
    """
    game, shown = replay.begin(), dict.fromkeys(SEATS, 0)
    with closing(analysis_of(kit)(kit, chosen, choice, game.setup, seed=seed, cap=cap)) as analysis:
        for answer in replay.answers:
            show(game, shown, analysis.observe)
            seat, ply = game.turn, game.ply
            if ply >= first:
                analysis.think(seat, game.question, limit)
            game.answer(answer)
            if ply >= first and game.ply > ply:
                yield analysis.record(game, ply, seat, answer)

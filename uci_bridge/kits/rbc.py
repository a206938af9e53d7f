"""The kit of Reconnaissance Blind Chess."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import chess

from darkchess.board.position import START_FEN, Position
from darkchess.evaluation.registry import EvaluatorChoice
from darkchess.rbc.game.contest import DEFAULT_PLAYER, Answer
from darkchess.rbc.game.history import UNLIMITED, answered, history_text, read_history, replayed
from darkchess.rbc.game.observation import Observation
from darkchess.rbc.game.referee import Referee
from darkchess.rbc.players.dsmcp import Synoptic
from darkchess.rbc.players.named_rbc_players import (
    ABOUT,
    CONFIGURATIONS,
    LEVELS,
    Configuration,
    configuration,
    make_player,
)
from darkchess.rbc.synoptic.networks import network_of
from darkchess.rbc.warm_up import warm_up
from klss.play.arbiter import Played
from klss.play.contest import Player
from klss.play.kit import Kit, Maker, Replay
from klss.play.outcome import Outcome
from klss.support.configuration_text import ConfigurationError
from klss.support.inference import NetworkError
from klss.support.text import Document
from uci_bridge.commands import described
from uci_bridge.evaluators import EvaluatedKit, make_evaluator
from uci_bridge.protocol.rbc import RBC as WIRE

if TYPE_CHECKING:
    from uci_bridge.reconchess.bots import Foreign


class _Rbc(EvaluatedKit, Kit[Configuration, Referee, Position, Observation, Answer]):
    name = "rbc"
    title = "Reconnaissance Blind Chess"
    wire = WIRE
    own = Configuration
    configurations = tuple(CONFIGURATIONS)
    levels = ABOUT
    default_player = DEFAULT_PLAYER
    starts = True
    players = (
        "NAME,field=value,…; FILE.toml; trout, attacker, random, FILE.py or module:Class of reconchess; cmd:PROGRAM …"
    )
    front = "klss_app.web.rbc_board:RbcBoard"

    def spec(self, text: str) -> Configuration | Foreign:
        """A configuration, or a player of the package ``reconchess`` (:mod:`uci_bridge.reconchess`)."""
        if text.partition(",")[0].strip() not in CONFIGURATIONS | LEVELS:
            from uci_bridge.reconchess import foreign

            found = foreign(text)
            if found is not None:
                return found
        chosen = configuration(text)
        if isinstance(chosen.thinking, Synoptic):
            try:
                network_of(chosen.thinking.network)  # so that a missing network raises now, not in play
            except NetworkError as error:
                raise ConfigurationError(f"configuration: network: {error}") from None
        return chosen

    def text(self, spec: Configuration) -> str:
        return described(spec, CONFIGURATIONS | LEVELS, configuration)

    def maker(
        self, spec: Configuration, choice: EvaluatorChoice, setup: Position
    ) -> Maker[Position, Observation, Answer]:
        evaluator = make_evaluator(spec, choice)
        return Maker(lambda seed: make_player(spec, evaluator, seed=seed), evaluator.close)

    def warm_up(self, player: Player[Position, Observation, Answer], seat: chess.Color) -> None:
        warm_up(player, seat)

    def setup(self, start: str | None = None, rules: str | None = None) -> Position:
        return Position.from_fen(START_FEN if start is None else start)

    def referee(self, setup: Position, moves: Sequence[str] = (), seed: int = 0) -> Referee:
        return answered(Referee(setup.fen()), moves)

    def record(self, referee: Referee, headers: Mapping[str, str]) -> str:
        if referee.outcome is None:
            referee.end(Outcome(None, "aborted"))  # a history has an end
        return history_text(referee, headers["White"], headers["Black"], headers)

    def replayed(self, text: str, rules: str | None = None) -> Replay[Referee, Answer]:
        """See the base: the JSON of reconchess. A look without its request is left out."""
        written, game = read_history(text), replayed(text)
        answers = [answer for turn in game.turns for answer in (turn.sensed.square, turn.moved.requested)]
        return Replay(partial(Referee, written.fen, UNLIMITED), answers, written.tags, game.outcome or written.outcome)

    def line(self, referee: Referee, played: Played[Answer]) -> Document:
        turn = referee.turns[-1]
        square, requested, taken = turn.sensed.square, turn.moved.requested, turn.moved.taken
        found: Document = {
            "sense": None if square is None else chess.SQUARE_NAMES[square],
            "move": None if requested is None else requested.uci(),
            "taken": None if taken is None else taken.uci(),
            "seconds_sense": round(played.answers[0].seconds, 4),
        }
        look = played.answers[0].decision.diagnostics
        return found | ({"look": look} if look else {})


RBC = _Rbc()
"""The kit."""

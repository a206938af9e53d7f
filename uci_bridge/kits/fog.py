"""Fog of War at the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import chess

from darkchess.board.position import START_FEN, Position
from darkchess.evaluation.evaluator import Evaluator
from darkchess.evaluation.registry import EvaluatorChoice
from darkchess.fog.game.contest import DEFAULT_PLAYER, Setup
from darkchess.fog.game.record import GameRecord, write_pgn
from darkchess.fog.game.referee import Referee
from darkchess.fog.game.rules import RULESETS, ruleset
from darkchess.fog.players import configuration as fog_players
from darkchess.fog.players.configuration import CONFIGURATIONS, LEVELS, Configuration
from darkchess.fog.warm_up import warm_up
from klss.play.arbiter import Played
from uci_bridge.commands import described
from uci_bridge.evaluators import make_evaluator
from uci_bridge.kits.chess_kit import ChessKit
from uci_bridge.protocol.fog import FOG as WIRE


class _Fog(ChessKit):
    """See :class:`klss.play.kit.Kit`."""

    name = "fog"
    title = "Fog of War chess"
    wire = WIRE
    roster = fog_players
    configurations = fog_players.main_names()
    default_player = DEFAULT_PLAYER
    players = "NAME,field=value,…; FILE.toml; cmd:PROGRAM …"
    rules = tuple(RULESETS)
    suffix = ".pgn"
    starts = True
    screen = "klss_app.cli.fog.screen:FogScreen"

    def spec(self, text: str) -> Configuration:
        return fog_players.configuration(text)

    def text(self, spec: Any) -> str:
        return described(spec, CONFIGURATIONS | LEVELS, fog_players.configuration)

    def evaluator(self, spec: Any, choice: EvaluatorChoice, setup: Setup) -> Evaluator:
        return make_evaluator(spec, choice, setup.ruleset)

    def warm_up(self, player: Any, seat: chess.Color) -> None:
        warm_up(player, seat)

    def setup(self, start: str | None = None, rules: str | None = None) -> Setup:
        return Setup(Position.from_fen(START_FEN if start is None else start), ruleset(rules or self.rules[0]))

    def referee(self, setup: Setup, moves: Sequence[str] = (), seed: int = 0) -> Referee:
        return Referee.replay(map(chess.Move.from_uci, moves), setup.start.fen(), setup.ruleset)

    def record(self, referee: Referee, headers: Mapping[str, str]) -> str:
        fen = referee.positions[0].fen()
        return write_pgn(GameRecord(referee.moves, referee.outcome, None if fen == START_FEN else fen, dict(headers)))

    def line(self, referee: Referee, played: Played) -> dict[str, Any]:
        return {"move": played.decision.answer.uci()}


FOG = _Fog()
"""The kit."""

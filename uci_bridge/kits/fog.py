"""The kit of Fog of War."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from functools import partial

import chess

from darkchess.board.position import START_FEN, Position
from darkchess.errors import RecordError
from darkchess.evaluation.registry import EvaluatorChoice, evaluator_class
from darkchess.fog.game.contest import DEFAULT_PLAYER, Setup
from darkchess.fog.game.record import GameRecord, read_game, write_pgn, written_games
from darkchess.fog.game.referee import Referee
from darkchess.fog.game.rules import RULESETS, Ruleset
from darkchess.fog.game.view import View
from darkchess.fog.players.named_fog_players import (
    ABOUT,
    CONFIGURATIONS,
    LEVELS,
    MAIN_NAMES,
    Configuration,
    configuration,
    make_player,
)
from darkchess.fog.warm_up import warm_up
from klss.play.arbiter import Played
from klss.play.contest import Player
from klss.play.kit import Kit, Maker, Replay
from klss.support.text import Document
from uci_bridge.bot.true_game import ServerReferee
from uci_bridge.commands import described
from uci_bridge.evaluators import EvaluatedKit, evaluator_choice, make_evaluator
from uci_bridge.protocol.fog import FOG as WIRE


class _Fog(EvaluatedKit, Kit[Configuration, Referee, Setup, View, chess.Move]):
    name = "fog"
    title = "Fog of War chess"
    wire = WIRE
    own = Configuration
    configurations = MAIN_NAMES
    levels: Mapping[str, str] = {name: ABOUT[name] for name in LEVELS}
    default_player = DEFAULT_PLAYER
    players = "NAME,field=value,…; FILE.toml; cmd:PROGRAM …"
    rules = tuple(RULESETS)
    suffix = ".pgn"
    starts = True
    front = "klss_app.web.fog_board:FogBoard"

    def spec(self, text: str) -> Configuration:
        return configuration(text)

    def text(self, spec: Configuration) -> str:
        return described(spec, CONFIGURATIONS | LEVELS, configuration)

    def pondering(self, spec: Configuration, choice: EvaluatorChoice) -> Configuration:
        evaluator = evaluator_class(evaluator_choice(spec, choice).name)
        return spec.pondering() if evaluator.reentrant else spec  # which two threads may use at once

    def ponders(self, spec: Configuration) -> bool:
        return spec.ponder

    def maker(self, spec: Configuration, choice: EvaluatorChoice, setup: Setup) -> Maker[Setup, View, chess.Move]:
        evaluator = make_evaluator(spec, choice, setup.ruleset)
        return Maker(lambda seed: make_player(spec, evaluator, seed=seed), evaluator.close)

    def warm_up(self, player: Player[Setup, View, chess.Move], seat: chess.Color) -> None:
        warm_up(player, seat)

    def setup(self, start: str | None = None, rules: str | None = None) -> Setup:
        return Setup(Position.from_fen(START_FEN if start is None else start), RULESETS[rules or self.rules[0]])

    def referee(self, setup: Setup, moves: Sequence[str] = (), seed: int = 0) -> Referee:
        return Referee.replay(map(chess.Move.from_uci, moves), setup.start.fen(), setup.ruleset)

    def record(self, referee: Referee, headers: Mapping[str, str]) -> str:
        fen, outcome = referee.positions[0].fen(), referee.outcome
        ended = None if outcome is None or outcome.reason == "aborted" else outcome
        return write_pgn(GameRecord(referee.moves, ended, None if fen == START_FEN else fen, dict(headers)))

    def replayed(self, text: str, rules: str | None = None) -> Replay[Referee, chess.Move]:
        record, count = read_game(written_games(io.StringIO(text)))
        if count > 1:
            raise RecordError(f"got a file of {count:,} games, expected one; --game N chooses it on the command line")
        if record is None:
            raise RecordError("got no game, expected a PGN file")
        return replay(record, RULESETS[rules or self.rules[0]])

    def line(self, referee: Referee, played: Played[chess.Move]) -> Document:
        return {"move": played.decision.answer.uci()}


def replay(record: GameRecord, rules: Ruleset) -> Replay[Referee, chess.Move]:
    """A kept game; no draw by rule ends it, since the record says how it ended."""
    return Replay(partial(ServerReferee, record.fen, rules), record.moves, record.headers, record.outcome)


FOG = _Fog()
"""The kit."""

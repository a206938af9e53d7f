"""The bridge to reconchess: our player in its games, its bots in ours."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import chess
import pytest

from darkchess.rbc.game.contest import Player
from darkchess.rbc.game.referee import Referee
from darkchess.rbc.game.rules import Limits
from darkchess.rbc.players.named_rbc_players import configuration, make_player
from darkchess.rbc.players.scripted import RandomPlayer
from klss.play.arbiter import Arbiter
from klss.play.limits import Limit
from klss.support.configuration_text import ConfigurationError
from tests.alive import is_alive
from uci_bridge.errors import ReconchessMissing
from uci_bridge.protocol.engine_process import EngineProcess, Patience
from uci_bridge.protocol.host import HostedPlayer
from uci_bridge.protocol.rbc import RBC
from uci_bridge.reconchess import Foreign, ReconchessPlayer, foreign
from uci_bridge.reconchess import bots as bots_module

reconchess = pytest.importorskip("reconchess", exc_type=ImportError)

ROOT = Path(__file__).resolve().parents[2]
linux = pytest.mark.skipif(sys.platform != "linux", reason="what ends with a bot is found in Linux's process table")
SHORT = Limits(full_turns=8)
NODES = Limit(nodes=50)


def bot(name: str, **patience: float) -> Foreign:
    """One of tests/uci_bridge/reconchess_bots.py, unchecked."""
    return Foreign(name, f"tests.uci_bridge.reconchess_bots:{name}", Patience(**patience))


def played(white: Any, control: Limit = NODES, limits: Limits = SHORT, black: Player | None = None) -> Referee:
    """A game that ``white`` may lose by a fault of its own alone, if ``black`` only passes."""
    game = Referee(limits=limits)
    controls = {chess.WHITE: control, chess.BLACK: NODES}
    Arbiter(game, {chess.WHITE: white, chess.BLACK: black or Shuffles()}, controls).play()
    return game


def result(game: Referee) -> tuple[bool | None, str]:
    assert game.outcome is not None
    return game.outcome.winner, game.outcome.reason


# ----------------------------------------------------------------------------------------------------------------------
# ours in theirs


@pytest.mark.parametrize("text", ["rbc-random", "rbc-attacker", pytest.param("rbc-siamese", marks=pytest.mark.slow)])
def test_our_player_plays_games_of_theirs_one_after_the_other(text: str) -> None:
    from reconchess.bots.random_bot import RandomBot

    ours = ReconchessPlayer(text, seed=3, nodes=10)
    for color in chess.COLORS:
        players = (ours, RandomBot()) if color else (RandomBot(), ours)
        _, _, history = reconchess.play_local_game(*players)
        assert any(map(history.requested_move, history.turns(color)))
    ours.close()


@pytest.mark.parametrize("limit", [{"nodes": -5}, {"time_s": -1.0}])
def test_a_limit_that_is_none_is_refused_before_a_game(limit: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="expected"):
        ReconchessPlayer("rbc-random", **limit)


def test_it_plays_as_it_does_in_our_games() -> None:
    """The same requests, by the same notices, senses and results, as with our referee."""

    def ours(seed: int) -> Player:
        return make_player(configuration("rbc-random"), seed=seed)

    game = Referee()
    Arbiter(game, {chess.WHITE: ours(1), chess.BLACK: ours(2)}, dict.fromkeys(chess.COLORS, NODES)).play()
    white, black = (ReconchessPlayer("rbc-random", seed=seed, nodes=50) for seed in (1, 2))
    _, _, history = reconchess.play_local_game(white, black)
    for color in chess.COLORS:
        turns = [turn for turn in game.turns if turn.color == color]
        assert [turn.sensed.square for turn in turns] == history._senses[color]
        assert [(turn.moved.requested, turn.moved.taken) for turn in turns] == [
            *zip(history._requested_moves[color], history._taken_moves[color])
        ]


class Broken(RandomPlayer):
    """Raises wherever it is called, or answers what is not allowed."""

    def choose_sense(self, limit: Any) -> Any:
        return replace(super().choose_sense(limit), answer=77)

    def choose_move(self, limit: Any) -> Any:
        raise RuntimeError("no idea")

    def sensed(self, sensed: Any) -> None:
        raise KeyError(sensed)

    moved = sensed  # type: ignore[assignment]


def test_what_ours_raises_is_logged_and_the_game_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from reconchess.bots.random_bot import RandomBot

    monkeypatch.setattr("uci_bridge.reconchess.player.make_player", lambda *_, seed: Broken(seed=seed))
    game = reconchess.LocalGame(full_turn_limit=20)
    _, reason, history = reconchess.play_local_game(ReconchessPlayer("rbc-random"), RandomBot(), game=game)
    assert reason in (reconchess.WinReason.KING_CAPTURE, reconchess.WinReason.TURN_LIMIT)
    assert history.num_turns() > 4 and any(history._requested_moves[True])
    assert {"rbc-random: no idea", "rbc-random: got 77, expected what is allowed"} <= {*caplog.messages}


def test_it_bears_what_servers_do(caplog: pytest.LogCaptureFixture) -> None:
    ours = ReconchessPlayer("rbc-random")
    assert ours.choose_sense(list(chess.SQUARES), [], 1.0) in chess.SQUARES and ours.choose_move([], 1.0) is None
    for seconds_left in (None, 0, -3.0, 1e300, float("inf"), float("nan")):
        ours.handle_game_start(chess.WHITE, chess.Board(), "\x1b]0;x\x07'; DROP TABLE")
        ours.handle_opponent_move_result(False, None)
        square = ours.choose_sense(list(chess.SQUARES), [], seconds_left)
        ours.handle_sense_result([])  # the game was over
        moves = reconchess.LocalGame().move_actions()
        asked = ours.choose_move(moves, seconds_left)
        assert square in chess.SQUARES and (asked is None or asked in moves)
        ours.handle_move_result(asked, None, False, None)
    ours.handle_game_end(None, None, None)
    ours.handle_game_end(True, reconchess.WinReason.TIMEOUT, None)
    assert caplog.messages == []


def test_reconchess_finds_our_player_by_module_and_by_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KLSS_RBC_PLAYER", "rbc-attacker")
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert reconchess.load_player("uci_bridge.reconchess") == ("ReconchessPlayer", ReconchessPlayer)
    for place in ("uci_bridge.reconchess.klss_bot", str(ROOT / "uci_bridge" / "reconchess" / "klss_bot.py")):
        name, found = reconchess.load_player(place)
        assert name == "KlssBot" and issubclass(found, ReconchessPlayer) and found()._chosen.name == "rbc-attacker"


@pytest.mark.slow
def test_rc_bot_match_runs_our_player(tmp_path: Path) -> None:
    program = "import random; random.seed(5); from reconchess.scripts.rc_bot_match import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", program, str(ROOT / "uci_bridge/reconchess/klss_bot.py"), "reconchess.bots.random_bot"],
        env={**os.environ, "PYTHONPATH": str(ROOT), "KLSS_RBC_PLAYER": "rbc-attacker"},
        cwd=tmp_path, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    (record,) = tmp_path.glob("KlssBot-RandomBot-*.json")
    assert "Game Over!" in ran.stdout and "ERROR" not in ran.stdout and ran.stderr == ""
    assert reconchess.GameHistory.from_file(str(record)).get_white_player_name() == "KlssBot"


def test_the_bot_in_the_document_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "bot.md").read_text(), re.DOTALL)
    (tmp_path / "mine_of_the_document.py").write_text(block)
    monkeypatch.setattr(sys, "path", [*sys.path])
    name, found = reconchess.load_player(str(tmp_path / "mine_of_the_document.py"))
    assert name == "Mine" and isinstance(found(), ReconchessPlayer)


# ----------------------------------------------------------------------------------------------------------------------
# theirs in ours


Hosted = Callable[..., HostedPlayer]


@pytest.fixture
def hosted() -> Iterator[Hosted]:
    """Makes a player of a bot, as a match does; its program ends with the test."""
    processes: list[EngineProcess] = []

    def make(found: Foreign, seed: int = 0, stockfish: str | None = None, **rest: Any) -> HostedPlayer:
        processes.append(found.process(stockfish))
        return HostedPlayer(processes[-1], RBC, seed=seed, whole=True, **rest)

    yield make
    for process in processes:
        process.close()


@pytest.mark.parametrize("name", [pytest.param("random", marks=pytest.mark.slow), "attacker"])
def test_their_bots_play_in_our_games_the_same_with_the_same_seed(hosted: Hosted, name: str) -> None:
    found = foreign(name)
    assert found is not None and found.name == name and found.fields()["source"].startswith("reconchess.bots.")
    white = hosted(found, seed=7)
    games = [played(white, black=RandomPlayer(seed=2)) for _ in range(2)]
    assert games[0].turns == games[1].turns and len(games[0].turns) > 5
    assert result(games[0])[1] != "forfeit"


@pytest.mark.slow
def test_trout_plays_the_same_with_the_same_nodes(hosted: Hosted, require_stockfish: str) -> None:
    found = foreign("trout")
    assert found is not None
    white = hosted(found, seed=7, stockfish=require_stockfish)
    games = [played(white, Limit(nodes=100), Limits(full_turns=4)) for _ in range(2)]
    assert games[0].turns == games[1].turns and result(games[0]) == (None, "turn_limit")
    assert all(turn.moved.requested for turn in games[0].turns if turn.color)


def test_the_engine_of_trout_is_started_again_once_a_board_has_killed_it(require_stockfish: str) -> None:
    import chess.engine

    from uci_bridge.reconchess.child import LivingEngine

    usual = chess.engine.Limit(time=600)
    first = chess.engine.SimpleEngine.popen_uci(require_stockfish, setpgrp=True)
    engine = LivingEngine(first, require_stockfish)
    engine.limit = Limit(nodes=50)
    board = chess.Board()
    assert engine.play(board, usual).move in board.legal_moves
    with pytest.raises(chess.engine.EngineTerminatedError):
        engine.play(chess.Board("8/8/8/8/8/8/8/4K3 w - - 0 1"), usual)
    assert engine.play(board, usual).move in board.legal_moves
    engine.quit()
    engine.quit()


@pytest.mark.parametrize(
    ("name", "trouble"),
    [
        pytest.param("Killed", "it ended (signal 9)", marks=pytest.mark.slow),
        pytest.param("Leaves", "SystemExit: 3", marks=pytest.mark.slow),
        pytest.param("Nonsense", "expected one of its", marks=pytest.mark.slow),
        ("NoSuchMove", "it asks for Move.from_uci('a1h7')"),
        pytest.param("NoSuchSquare", "it looks at 64, expected a square", marks=pytest.mark.slow),
    ],
)
def test_a_bot_that_fails_forfeits_and_plays_the_next_game(hosted: Hosted, name: str, trouble: str) -> None:
    white = hosted(bot(name))
    for _ in range(2 if name == "Killed" else 1):
        game = played(white)
        assert result(game) == (chess.BLACK, "forfeit") and game.ply in (4, 5)
        assert white.last_fault is not None and trouble in white.last_fault and white.last_fault.isprintable()


@pytest.mark.slow
def test_a_bot_that_hangs_forfeits_or_loses_on_its_clock(hosted: Hosted) -> None:
    white = hosted(bot("Hangs", nodes_s=0.3))
    assert result(played(white)) == (chess.BLACK, "forfeit") and "no answer" in str(white.last_fault)
    assert result(played(white, Limit(clock=(5.0, 0.01)))) == (chess.BLACK, "flag")


@pytest.mark.slow
def test_what_a_bot_does_to_its_process_stays_there(hosted: Hosted) -> None:
    place, push = os.getcwd(), chess.Board.push
    white = hosted(bot("Talks"))
    game = played(white, limits=Limits(full_turns=3))
    assert result(game) == (None, "turn_limit") and white.last_fault is None
    assert (os.getcwd(), chess.Board.push) == (place, push)


def starts_a_daemon(folder: Path, then: str) -> Path:
    """The file of a bot that begins by starting a program in a session of its own; process ids come to be in pids."""
    file = folder / f"daemon_{then.lower()}.py"
    file.write_text(
        f"""
import os, subprocess
import tests.uci_bridge.reconchess_bots as bots
class Daemon(bots.{then}):
    def handle_game_start(self, *told):
        super().handle_game_start(*told)
        left = subprocess.Popen(["sleep", "30"], start_new_session=True)
        open({str(folder / "pids")!r}, "a").write(f"{{os.getpid()}} {{left.pid}} ")
"""
    )
    return file


def all_ended(folder: Path, within_s: float = 5.0) -> bool:
    """Whether the processes of a daemon's bot end."""
    pids = [int(pid) for pid in (folder / "pids").read_text().split()]
    assert len(pids) == 2
    until = time.monotonic() + within_s
    while time.monotonic() < until and any(map(is_alive, pids)):
        time.sleep(0.02)
    return not any(map(is_alive, pids))


@linux
@pytest.mark.parametrize(
    ("then", "reason"),
    [
        pytest.param("Plain", "turn_limit", marks=pytest.mark.slow),
        pytest.param("Hangs", "forfeit", marks=pytest.mark.slow),
        ("Killed", "forfeit"),
    ],
)
def test_what_a_bot_started_ends_with_its_game(hosted: Hosted, then: str, reason: str, tmp_path: Path) -> None:
    white = hosted(
        Foreign("daemon", str(starts_a_daemon(tmp_path, then)), Patience(nodes_s=0.2 if then == "Hangs" else 60.0))
    )
    assert result(played(white, limits=Limits(full_turns=4)))[1] == reason
    assert all_ended(tmp_path)


@pytest.mark.slow
@linux
def test_a_bot_that_hangs_ends_with_us_even_if_we_are_killed(tmp_path: Path) -> None:
    daemon = starts_a_daemon(tmp_path, "HangsWhenTold")
    program = f"""
import os, signal, chess
from darkchess.rbc.game.observation import Moved, Notice, Sensed
from darkchess.board.position import Position
from klss.play.limits import Limit
from uci_bridge.protocol.host import HostedPlayer
from uci_bridge.protocol.rbc import RBC
from uci_bridge.reconchess import Foreign
white = HostedPlayer(Foreign("daemon", {str(daemon)!r}).process(None), RBC)
white.begin(chess.WHITE, Position.start())
white.observe(Notice(None))
white.answer("sense", Limit(nodes=50))
white.observe(Sensed(None, ()))
white.answer("move", Limit(nodes=50))
white.observe(Moved(None, None, None))
os.kill(os.getpid(), signal.SIGKILL)
"""
    ran = subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=120)
    assert ran.returncode == -9
    (tmp_path / "pids").write_text((tmp_path / "pids").read_text().split()[0] + " 0")  # a daemon's daemon may stay
    assert all_ended(tmp_path)


class Shuffles(RandomPlayer):
    """Moves a knight to and fro, or passes."""

    def __init__(self, squares: tuple[int, int] | None = None) -> None:
        super().__init__(seed=1)
        self._squares = squares

    def choose_move(self, limit: Any) -> Any:
        asked = super().choose_move(limit)
        if self._squares is None:
            return replace(asked, answer=None)
        from_square, to_square = self._squares
        self._squares = to_square, from_square
        return replace(asked, answer=chess.Move(from_square, to_square))


def test_two_games_that_look_the_same_to_a_bot_are_the_same_bytes_and_it_sees_nothing_of_our_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MY_TOKEN", "a-secret")
    sent: list[bytes] = []
    send = EngineProcess.send
    monkeypatch.setattr(
        EngineProcess, "send", lambda process, line, deadline: (sent.append(line), send(process, line, deadline))[1]
    )
    shown, seen = [], []
    with closing(bot("Curious").process(None)) as process:
        for black in (Shuffles((chess.G8, chess.H6)), Shuffles((chess.G8, chess.F6)), Shuffles()):
            white = HostedPlayer(process, RBC, seed=3, whole=True, key="same")
            game = played(white, black=black, limits=Limits(full_turns=3))
            assert result(game) == (None, "turn_limit") and len(sent) == 3 * 3 + 1
            assert {turn.sensed.square for turn in game.turns if turn.color} == {chess.A8}
            shown.append(sent[:])
            seen.append(game.observations(chess.WHITE))
            sent.clear()
    assert seen[0] == seen[1] == seen[2] and shown[0] == shown[1] == shown[2]


def test_texts_that_name_no_bot_or_one_that_is_not_there(caplog: pytest.LogCaptureFixture) -> None:
    assert [foreign(text) for text in ("rbc-random", "kluss", "cmd:true", "x:y:z", "player.toml")] == [None] * 5
    with pytest.raises(ConfigurationError, match=r"nothing\.py.*expected the file of a reconchess player"):
        foreign("nothing.py")
    assert caplog.messages == []  # a command says it in one line, and not in a second one


def test_who_has_no_reconchess_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bots_module.importlib.util, "find_spec", lambda name: None)
    for use in (ReconchessPlayer, lambda: foreign("random")):
        with pytest.raises(ReconchessMissing, match="expected the extra rbc"):
            use()

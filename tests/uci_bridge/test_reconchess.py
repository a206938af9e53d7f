"""The bridge to reconchess: our player in its games, its bots in ours."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import chess
import pytest

from darkchess.board.position import Position
from darkchess.rbc.game.contest import Player
from darkchess.rbc.game.referee import Referee
from darkchess.rbc.game.rules import Limits
from darkchess.rbc.players.configuration import configuration, make_player
from darkchess.rbc.players.scripted import RandomPlayer
from klss.support.configurations import ConfigurationError
from klss.table.arbiter import Arbiter
from klss.table.limits import TimeControl
from uci_bridge.errors import ReconchessMissing
from uci_bridge.protocol.engine_process import EngineProcess, Patience
from uci_bridge.reconchess import Foreign, ReconchessPlayer, foreign
from uci_bridge.reconchess import bots as bots_module

reconchess = pytest.importorskip("reconchess", exc_type=ImportError)

ROOT = Path(__file__).resolve().parents[2]
linux = pytest.mark.skipif(sys.platform != "linux", reason="what ends with a bot is found in Linux's process table")
SHORT = Limits(full_turns=8)
NODES = TimeControl(nodes=50)


def bot(name: str, **patience: float) -> Foreign:
    """One of tests/uci_bridge/reconchess_bots.py, unchecked."""
    return Foreign(name, f"tests.uci_bridge.reconchess_bots:{name}", Patience(**patience))


def played(white: Player, control: TimeControl = NODES, limits: Limits = SHORT, black: Player | None = None) -> Referee:
    """A game that ``white`` may lose by a fault of its own alone, if ``black`` only passes."""
    game = Referee(limits=limits)
    controls = {chess.WHITE: control, chess.BLACK: NODES}
    Arbiter(game, {chess.WHITE: white, chess.BLACK: black or Passes()}, controls).play()
    return game


class Passes(RandomPlayer):
    def choose_move(self, limit: Any) -> Any:
        return replace(super().choose_move(limit), answer=None)


class Dawdles(Passes):
    def choose_move(self, limit: Any) -> Any:
        time.sleep(0.2)
        return super().choose_move(limit)


def result(game: Referee) -> tuple[bool | None, str]:
    assert game.outcome is not None
    return game.outcome.winner, game.outcome.reason


# ----------------------------------------------------------------------------------------------------------------------
# ours in theirs


@pytest.mark.parametrize("text", ["rbc-random", "rbc-attacker"])
def test_our_player_plays_games_of_theirs_one_after_the_other(text: str) -> None:
    from reconchess.bots.random_bot import RandomBot

    ours = ReconchessPlayer(text, seed=3, nodes=10)
    for color in chess.COLORS:
        players = (ours, RandomBot()) if color else (RandomBot(), ours)
        _, _, history = reconchess.play_local_game(*players)
        assert any(map(history.requested_move, history.turns(color)))
        assert ours.possible_count == 0 and ours.possible_boards(3) == []
    ours.close()


@pytest.mark.parametrize("color", chess.COLORS)
def test_a_game_lost_on_time_before_the_first_request_is_one_that_ends(
    color: chess.Color, caplog: pytest.LogCaptureFixture
) -> None:
    ours, other = ReconchessPlayer("rbc-random", nodes=10), ReconchessPlayer("rbc-random", nodes=10)
    players = (ours, other) if color else (other, ours)
    for _ in range(2):  # and the next one is played as usual
        winner, reason, history = reconchess.play_local_game(*players, seconds_per_player=0.0)
        assert (winner, reason, history.num_turns()) == (chess.BLACK, reconchess.WinReason.TIMEOUT, 0)
    assert reconchess.play_local_game(*players)[2].num_turns() > 0 and not caplog.records
    for player in players:
        player.close()


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


class Holds:
    """Two positions; the second one is the likelier."""

    size, capped_by = 2, None

    def contains(self, row: Any) -> bool:
        return False

    def rows(self, indices: Sequence[int]) -> Any:
        fens = ["4k3/8/8/8/8/8/8/4K3 w - - 0 1", "3k4/8/8/8/8/8/8/4K3 w - - 0 1"]
        return [Position.from_fen(fens[index]).row for index in indices]


def test_what_it_holds_possible_is_told_the_likeliest_first(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = ReconchessPlayer("rbc-random")
    monkeypatch.setattr(RandomPlayer, "position_set", Holds())
    monkeypatch.setattr(RandomPlayer, "likeliest", lambda player, count: [1, 0][:count], raising=False)
    ours.handle_game_start(chess.WHITE, chess.Board(), "them")
    ours.handle_opponent_move_result(False, None)
    assert ours.possible_count == 2
    assert ours.possible_boards(1) == ["3k4/8/8/8/8/8/8/4K3 w - - 0 1"]
    ours.handle_move_result(None, None, False, None)
    assert ours.possible_boards(9)[1] == "4k3/8/8/8/8/8/8/4K3 b - - 0 1"
    ours.handle_opponent_move_result(False, None)
    assert ours.possible_boards(9)[0].endswith(" w - - 0 2")


def test_reconchess_finds_our_player_by_module_and_by_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KLSS_RBC_PLAYER", "rbc-attacker")
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert reconchess.load_player("uci_bridge.reconchess") == ("ReconchessPlayer", ReconchessPlayer)
    for place in ("uci_bridge.reconchess.klss_bot", str(ROOT / "uci_bridge" / "reconchess" / "klss_bot.py")):
        name, found = reconchess.load_player(place)
        assert name == "KlssBot" and issubclass(found, ReconchessPlayer) and found()._chosen.name == "rbc-attacker"


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


class Server:
    """What the server of reconchess answers: JSON, over a game against a bot of theirs. Stands for a session too."""

    def __init__(self) -> None:
        from reconchess.bots.random_bot import RandomBot

        self.game, self.bot = reconchess.LocalGame(full_turn_limit=25), RandomBot()
        self.asked: list[str] = []

    def said(self, what: str, sent: Any) -> Any:
        """The answer to a request; the bot moves when it is asked whether the game is over."""
        game = self.game
        if what == "game_status":
            while game.turn == chess.BLACK and not game.is_over():
                reconchess.play_turn(game, self.bot, end_turn_last=True)
            return {"is_over": game.is_over(), "is_my_turn": True}
        if what == "starting_board":
            return {"board": chess.Board()}
        answers = {
            "color": lambda: True,
            "opponent_name": lambda: "\x1b[2J",
            "ready": game.start,
            "sense": lambda: game.sense(sent["square"]),
            "move": lambda: game.move(sent["requested_move"]),
            "seconds_left": game.get_seconds_left,
            "winner_color": game.get_winner_color,
            "win_reason": game.get_win_reason,
            "game_history": lambda: None,
        }
        answer = answers[what]() if what in answers else getattr(game, what)()
        return {f"{what}_result" if what in ("sense", "move") else what: answer}

    def get(self, url: str) -> Any:
        return self.post(url)

    def post(self, url: str, data: str = "{}") -> Any:
        what = url.rpartition("/")[2]
        self.asked.append(what)
        answer = self.said(what, json.loads(data, cls=reconchess.ChessJSONDecoder))
        text = json.dumps(answer, cls=reconchess.ChessJSONEncoder)
        return SimpleNamespace(status_code=200, json=lambda cls: json.loads(text, cls=cls))


def test_our_player_plays_on_a_server(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    server = Server()
    monkeypatch.setattr("requests.Session", lambda: server)
    ours = ReconchessPlayer("rbc-random", seed=1)
    reconchess.play_remote_game("https://nowhere", 1, ("name", "password"), ours)
    assert server.game.is_over() and server.asked.count("sense") == server.asked.count("move") > 3
    assert caplog.messages == []


def test_the_bot_in_the_document_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "bot.md").read_text(), re.DOTALL)
    (tmp_path / "mine_of_the_document.py").write_text(block)
    monkeypatch.setattr(sys, "path", [*sys.path])
    name, found = reconchess.load_player(str(tmp_path / "mine_of_the_document.py"))
    assert name == "Mine" and isinstance(found(), ReconchessPlayer)


# ----------------------------------------------------------------------------------------------------------------------
# theirs in ours


@pytest.mark.parametrize("name", ["random", "attacker"])
def test_their_bots_play_in_our_games_the_same_with_the_same_seed(name: str) -> None:
    found = foreign(name)
    assert found is not None and found.name == name and found.fields()["source"].startswith("reconchess.bots.")
    games = [played(found.make(7, 50, None, None), black=RandomPlayer(seed=2)) for _ in range(2)]
    assert games[0].turns == games[1].turns and len(games[0].turns) > 5
    assert result(games[0])[1] != "forfeit"


def test_trout_plays_the_same_with_the_same_nodes(require_stockfish: str) -> None:
    found = foreign("trout")
    assert found is not None
    games = [played(found.make(7, 100, None, require_stockfish), limits=Limits(full_turns=4)) for _ in range(2)]
    assert games[0].turns == games[1].turns and result(games[0]) == (None, "turn_limit")
    assert all(turn.moved.requested for turn in games[0].turns if turn.color)


def test_the_engine_of_trout_is_started_again_once_a_board_has_killed_it(require_stockfish: str) -> None:
    import chess.engine

    from uci_bridge.reconchess.trout import LivingEngine

    usual = chess.engine.Limit(time=600)
    first = chess.engine.SimpleEngine.popen_uci(require_stockfish, setpgrp=True)
    engine = LivingEngine(first, require_stockfish, chess.engine.Limit(nodes=50))
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
        ("Killed", "it ended (signal 9)"),
        ("Leaves", "SystemExit in third: 3"),
        ("Nonsense", "expected a chess.Move or None"),
        ("NoSuchMove", "it asks for a1h7, expected one of its"),
        ("NoSuchSquare", "it looks at 64, expected a square"),
        ("FailsWhenTold", "RuntimeError in handle_move_result: I did not expect that"),
    ],
)
def test_a_bot_that_fails_forfeits_and_plays_the_next_game(name: str, trouble: str) -> None:
    white = bot(name).make(0, 50, None, None)
    for _ in range(2 if name == "Killed" else 1):
        game = played(white)
        assert result(game) == (chess.BLACK, "forfeit") and game.ply in (4, 5)
        assert white.last_fault is not None and trouble in white.last_fault and white.last_fault.isprintable()


def test_a_bot_that_ended_before_it_is_asked_again_has_said_why() -> None:
    white = bot("FailsWhenTold").make(0, 50, None, None)
    played(white, black=Dawdles())
    assert "RuntimeError in handle_move_result" in str(white.last_fault)


def test_a_bot_that_hangs_forfeits_or_loses_on_its_clock() -> None:
    white = bot("Hangs", nodes_s=0.3).make(0, 50, None, None)
    assert result(played(white)) == (chess.BLACK, "forfeit") and "no answer" in str(white.last_fault)
    assert result(played(white, TimeControl(clock=(0.3, 0.01)))) == (chess.BLACK, "flag")


def test_what_a_bot_prints_while_it_loads_gives_it_no_more_time(tmp_path: Path) -> None:
    file = tmp_path / "prints.py"
    file.write_text(
        "import time\nfor _ in range(60): print('loading', flush=True); time.sleep(0.05)\n"
        "import tests.uci_bridge.reconchess_bots as bots\nclass Prints(bots.Plain): pass\n"
    )
    white = Foreign("prints", str(file), Patience(start_s=0.3)).make(0, 50, None, None)
    white.start(chess.WHITE, Position.start())
    white.close()
    waited = re.search(r"no answer in (\S+) s", str(white.last_fault))  # its process has started by then
    assert waited is not None and float(waited[1]) <= 0.3


def test_what_a_bot_does_to_its_process_stays_there() -> None:
    place, push = os.getcwd(), chess.Board.push
    white = bot("Talks").make(0, 50, None, None)
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
    pids = (folder / "pids").read_text().split()
    assert len(pids) == 2
    until = time.monotonic() + within_s
    while time.monotonic() < until and any(map(runs, pids)):
        time.sleep(0.02)
    return not any(map(runs, pids))


def runs(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@linux
@pytest.mark.parametrize(("then", "reason"), [("Plain", "turn_limit"), ("Hangs", "forfeit"), ("Killed", "forfeit")])
def test_what_a_bot_started_ends_with_its_game(then: str, reason: str, tmp_path: Path) -> None:
    daemon = Foreign("daemon", str(starts_a_daemon(tmp_path, then)), Patience(nodes_s=0.2))
    white = daemon.make(0, 50, None, None)
    assert result(played(white, limits=Limits(full_turns=4)))[1] == reason
    assert all_ended(tmp_path)


@linux
def test_a_bot_that_hangs_ends_with_us_even_if_we_are_killed(tmp_path: Path) -> None:
    daemon = starts_a_daemon(tmp_path, "HangsWhenTold")
    program = f"""
import os, signal, time, chess
from darkchess.rbc.game.observation import Moved
from darkchess.board.position import Position
from uci_bridge.reconchess import Foreign
white = Foreign("daemon", {str(daemon)!r}).make(0, 50, None, None)
white.start(chess.WHITE, Position.start())
assert white.last_fault is None
white.moved(Moved(None, None, None))
time.sleep(0.1)
os.kill(os.getpid(), signal.SIGKILL)
"""
    ran = subprocess.run([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=120)
    assert ran.returncode == -9
    (tmp_path / "pids").write_text((tmp_path / "pids").read_text().split()[0] + " 0")  # a daemon's daemon may stay
    assert all_ended(tmp_path)


def test_a_bot_sees_nothing_of_our_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "a-secret")
    game = played(bot("Curious").make(0, 50, None, None), limits=Limits(full_turns=1))
    assert {turn.sensed.square for turn in game.turns if turn.color} == {chess.A8}


class Shuffles(RandomPlayer):
    """Moves a knight to and fro, or passes."""

    def __init__(self, squares: tuple[int, int] | None) -> None:
        super().__init__(seed=1)
        self._squares = squares

    def choose_move(self, limit: Any) -> Any:
        asked = super().choose_move(limit)
        if self._squares is None:
            return replace(asked, answer=None)
        from_square, to_square = self._squares
        self._squares = to_square, from_square
        return replace(asked, answer=chess.Move(from_square, to_square))


def test_two_games_that_look_the_same_to_a_bot_are_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[bytes] = []
    send = EngineProcess.send
    monkeypatch.setattr(
        EngineProcess, "send", lambda process, line, deadline: (sent.append(line), send(process, line, deadline))[1]
    )
    shown, seen = [], []
    for black in (Shuffles((chess.G8, chess.H6)), Shuffles((chess.G8, chess.F6)), Shuffles(None)):
        game = played(bot("Curious").make(3, 50, None, None), black=black, limits=Limits(full_turns=5))
        shown.append(sent[:])
        seen.append(game.observations(chess.WHITE))
        assert result(game) == (None, "turn_limit") and len(sent) == 1 + 3 * 5 + 1
        sent.clear()
    assert seen[0] == seen[1] == seen[2] and shown[0] == shown[1] == shown[2]


def test_texts_that_name_no_bot_or_one_that_is_not_there(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert [foreign(text) for text in ("rbc-random", "kluss", "cmd:true", "x:y:z", "player.toml")] == [None] * 5
    with pytest.raises(ConfigurationError, match=r"nothing\.py.*expected the file of a reconchess player"):
        foreign("nothing.py")
    with pytest.raises(ConfigurationError, match="has no attribute 'Nobody'"):
        foreign("reconchess:Nobody")
    assert caplog.messages == []  # a command says it in one line, and not in a second one
    mine = tmp_path / "my_bot.py"
    mine.write_text("from reconchess.bots.random_bot import RandomBot as Base\nclass Mine(Base): pass\n"
                    "def get_player(): return Mine\n")  # fmt: skip
    found = foreign(str(mine))
    assert found is not None and found.name == str(mine)


def test_who_has_no_reconchess_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bots_module.importlib.util, "find_spec", lambda name: None)
    for use in (ReconchessPlayer, lambda: foreign("random")):
        with pytest.raises(ReconchessMissing, match="expected the extra rbc"):
            use()

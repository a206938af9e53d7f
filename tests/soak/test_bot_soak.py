"""The bot for long: fifty games to their end, four at a time, against a server that does everything wrong.

In the first half the bot is killed at random moments; while it is away games end, are put away, and are lost by the
server: the moves of the last two are not there any more to be recorded. In the second half one process plays on, and
its memory is looked at. ``SOAK_BOT_GAMES`` is the number of games (default 50).
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from klss.play.outcome import Outcome
from tests.uci_bridge.bot_bench import klss_bot, recorded, said, under_way, write_config
from tests.uci_bridge.fake_server import TOKEN, FakeServer, Faults, Opponent

GAMES = int(os.environ.get("SOAK_BOT_GAMES", "50"))
FAULTS = Faults(cut=0.02, half=0.01, repeat=0.05, garbage=0.01, late_full=0.2, double_full=0.2, refuse=0.02,
                lose_move=0.01, take_back=0.02, delay_s=0.01, seed=11)  # fmt: skip


def resident_mb(pid: int) -> float:
    """Memory of one process, without its engines."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024.0
    raise AssertionError("no VmRSS")


def opponent(number: int, chooser: random.Random) -> Opponent:
    """People think, take back and leave, some before the first move; bots move at once and play to the end."""
    if number % 3 == 0:
        return Opponent()
    if number % 7 == 0:
        return Opponent(end="resign", end_ply=0)
    end = chooser.choice(["resign", "abandon", "abort", "flag", "draw", None])
    return Opponent(delay_s=0.03, end=end, end_ply=chooser.randrange(4, 80), same_after_take_back=number % 2 == 0)


def away(server: FakeServer, chooser: random.Random, done: Counter[str]) -> None:
    """What happens to games while the bot is away: one ends, one ends and is put away, one is lost."""
    going = [game for game in server.games.values() if game.outcome is None]
    chooser.shuffle(going)
    for game, what in zip(going, chooser.sample(["ended", "put away", "lost", "nothing"], 4), strict=False):
        done[what] += 1
        if what in ("ended", "put away"):
            server.call(game.end, Outcome(chooser.choice([game.bot_color, not game.bot_color, None]), "resign"))
            game.put_away = what == "put away"
        elif what == "lost":
            server.forget(game.id)


@pytest.mark.soak
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_fifty_games_with_faults_on_end_by_the_rules_are_recorded_and_leave_no_memory_behind(tmp_path: Path) -> None:
    chooser, happened = random.Random(1), Counter[str]()
    with FakeServer(FAULTS, old_stream_s=0.2) as server:
        engine = "{configuration: greedy, margin_ms: 500, move_time_s: 0.2}"
        config = write_config(tmp_path, server.url, engine=engine)
        bot = klss_bot(config, "--log", "debug")
        asked, resident, files = 0, list[float](), list[int]()
        deadline = time.monotonic() + 120 + 40 * GAMES
        kill_at = time.monotonic() + chooser.uniform(7.0, 15.0)
        while time.monotonic() < deadline:
            done = sum(game.outcome is not None for game in server.games.values()) + len(server.forgotten)
            begun = len(server.games) + len(server.forgotten)
            going = len(under_way(tmp_path / "records")) + len(server.pending)
            if begun + len(server.pending) < GAMES and going < 4:
                asked += 1
                name = f"human{asked}" if asked % 3 else f"some{asked}bot"
                title = {"challenger": {"name": name, "title": "" if asked % 3 else "BOT"}}
                server.challenge(name, script=opponent(asked, chooser), initial_s=120.0, increment_s=1.0, **title)
            if done < GAMES // 2 and time.monotonic() > kill_at:
                happened["kills"] += 1
                bot.kill()
                bot.wait()
                away(server, chooser, happened)
                bot = klss_bot(config, "--log", "debug")
                kill_at = time.monotonic() + chooser.uniform(7.0, 15.0)
            elif done >= GAMES // 2 and len(resident) < done - GAMES // 2:
                resident.append(resident_mb(bot.pid))
                files.append(len(os.listdir(f"/proc/{bot.pid}/fd")))
            if done == GAMES and not under_way(tmp_path / "records"):
                break
            assert bot.poll() is None, said(tmp_path)[-2000:]
            time.sleep(0.05)
        bot.send_signal(signal.SIGTERM)
        assert bot.wait(60) == 0
        games, declined, lost = server.games, set(server.declined.values()), server.forgotten
    log = [json.loads(line) for line in said(tmp_path).splitlines()]
    assert len(games) + len(lost) == GAMES and declined <= {"later"}
    assert not [game.lost_by_illegal_move for game in games.values() if game.lost_by_illegal_move]
    flagged = [game for game in games.values() if game.outcome and game.outcome.reason == "flag"]
    lost_on_time = [game.id for game in flagged if game.outcome and game.outcome.winner != game.bot_color]
    assert not lost_on_time
    found = recorded(tmp_path / "records")
    shown = {game_id: game for game_id, game in games.items() if not game.put_away or game_id in found}
    assert set(shown) <= set(found) <= set(games) | set(lost)
    # The server says that a game is over, and not how: only the rules' own ends have a result. It does not show a last
    # move, which is lost if moves were taken back while it was on its way.
    results = Counter[str]()
    for game_id, game in shown.items():
        moves, result = [move.uci() for move in found[game_id].moves], found[game_id].result
        ended = "*" if game.referee.outcome is None else game.referee.outcome.result
        assert (moves, result) == (game.moves, ended) or (game.take_backs and (moves, result) == (game.moves[:-1], "*"))
        results[result] += 1
    assert not [line for line in log if "traceback" in line]
    assert server.quiet_violations == 0
    assert TOKEN not in said(tmp_path)
    # From the first games of a process on, when everything has been loaded: what the rest leave is less than a tenth.
    settled = len(resident) // 5
    assert resident[-1] <= resident[settled] * 1.10 + 4.0, resident
    assert files[-1] <= files[settled] + 8, files
    faults = dict(server.done + happened)
    print(f"games {len(games)} and {len(lost)} lost by the server, results {dict(results)}, "
          f"faults {faults}, memory {resident[0]:.0f} -> {resident[-1]:.0f} MB")  # fmt: skip

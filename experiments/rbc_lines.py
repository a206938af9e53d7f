"""Short scripted attacks that win against a player of Reconnaissance Blind Chess: a small exploiter.

``python -m experiments.rbc_lines find`` searches for requests that win without any use of the answers. ``hold`` plays
the found lines against a player, the same one or another, with new seeds. Both write ``results/rbc_lines.json``.

A line is one side's first requests. It is played against the player itself, on the referee, once with each of a few
seeds; a request that can't be made, or a move that is blocked, is a pass. A beam search goes request by request: of all
lines of a length, the most promising ones are extended, judged by the true positions. The lines were selected on the
seeds of ``find``, so their scores there are biased; only ``hold`` measures what they win.
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import chess
import numpy as np

from darkchess.board.kernels.board import META
from darkchess.board.kernels.moves import king_capture
from darkchess.board.kernels.tables import TABLES
from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.rbc import Referee
from darkchess.rbc.game.contest import DEFAULT_PLAYER, Player
from darkchess.rbc.game.requests import played
from darkchess.rbc.players.configuration import configuration, make_player
from experiments.commands import Commands, finished, run
from experiments.series.runner import RESULTS, RUNS, positive
from experiments.series.summary import score_interval
from klss.support.configurations import ConfigurationError
from klss.support.seeds import game_seed, player_seed
from klss.table.limits import Limit
from uci_bridge.match.documents import commit, head, write_document
from uci_bridge.match.statistics import elo_of_match

__all__ = ["Duel", "Setting", "find", "hold", "main"]

NAME = "rbc_lines"

DECISIVE = 0.58
"""Value for the attacker from which on an unfinished game counts as won: some four pawns."""

_THREATS = 8
"""Threats against the king beyond which more don't add to the promise."""

_THREATENED = 0.3
"""Weight of threats in a line's promise; the rest is the value that it has reached."""

_TOP = 10
"""Number of the best found lines whose mean is reported."""

Line = tuple[str, ...]
"""Requests in UCI, in order."""


@dataclass(frozen=True)
class Setting:
    """The player that lines are played against, and its limits."""

    player: str = DEFAULT_PLAYER  # the text of its configuration
    nodes: int = 1000  # for each of its questions
    seed: int = 1  # of all games
    games: int = 4  # per line, each with its own seed


class Duel:
    """A game of one scripted side against a player.

    Parameters
    ----------
    setting
    color
        The script's.
    game
        Number of the game, which gives the player its seed.
    evaluator
        The player's, which is not copied with it.
    """

    def __init__(self, setting: Setting, color: chess.Color, game: int, evaluator: BuiltinEvaluator) -> None:
        self.color = color
        self.referee = Referee()
        self._limit = Limit(nodes=setting.nodes)
        self._evaluator = evaluator
        seed = player_seed(game_seed(setting.seed, game), chess.COLOR_NAMES[not color])
        self._player: Player = make_player(configuration(f"{setting.player},threads=1"), evaluator, seed=seed)
        self._player.begin(not color, self.referee.setup)
        self._answered()

    def branch(self) -> Duel:
        """A copy of the game, which can be continued differently."""
        return copy.deepcopy(self, {id(self._evaluator): self._evaluator})

    def ask(self, request: chess.Move) -> None:
        """Play a request of the script (a pass if it can't be made), then the player's turn."""
        referee = self.referee
        if referee.outcome is None:
            referee.move(request if request in referee.requests() else None)
            self._answered()

    def _answered(self) -> None:
        referee, player = self.referee, self._player
        if referee.outcome is not None or referee.turn == self.color:
            return
        player.observe(referee.notice)
        player.observe(referee.sense(player.answer("sense", self._limit).answer))
        moved = referee.move(player.answer("move", self._limit).answer)
        if referee.outcome is None:
            player.observe(moved)

    @property
    def taken(self) -> bool:
        """Whether the script has taken the king."""
        return self.referee.outcome is not None and self.referee.outcome.winner == self.color

    @property
    def value(self) -> float:
        """The value for the script: ±1 if a king is taken, else that of the true position with the script to move."""
        if self.referee.outcome is not None:
            return 1.0 if self.taken else -1.0
        return float(self._evaluator.values(self.referee.position.row[None])[0])

    @property
    def threats(self) -> int:
        """The number of the script's moves after which it could take the king if the player passed."""
        position = self.referee.position
        found = 0
        for move in position.legal_moves() if self.referee.outcome is None else ():
            row = position.after(move).row.copy()
            row[META] ^= np.uint64(1)
            found += int(king_capture(row, TABLES)) >= 0
        return found

    @property
    def promise(self) -> float:
        """The score by which lines are chosen for extension."""
        if self.referee.outcome is not None:
            return self.value
        return (1.0 - _THREATENED) * self.value + _THREATENED * min(self.threats, _THREATS) / _THREATS


def _duels(setting: Setting, color: chess.Color, line: Line, evaluator: BuiltinEvaluator) -> list[Duel]:
    """A line's games."""
    found = [Duel(setting, color, game, evaluator) for game in range(setting.games)]
    for text in line:
        for duel in found:
            duel.ask(chess.Move.from_uci(text))
    return found


def _next(duels: Sequence[Duel]) -> Iterator[chess.Move]:
    """Requests that extend a line; of those with the same result in all games, only one."""
    going = [duel.referee for duel in duels if duel.referee.outcome is None]
    seen: set[tuple[chess.Move | None, ...]] = set()
    for request in sorted({request for referee in going for request in referee.requests()}, key=chess.Move.uci):
        made = tuple(played(referee.position, request) if request in referee.requests() else None for referee in going)
        if any(made) and made not in seen:
            seen.add(made)
            yield request


def _row(line: Line, duels: Sequence[Duel]) -> dict[str, Any]:
    """The results of a line, one number per game."""
    return {
        "line": " ".join(line),
        "taken": [int(duel.taken) for duel in duels],
        "values": [round(duel.value, 3) for duel in duels],
        "promise": round(sum(duel.promise for duel in duels) / len(duels), 4),
        "over": all(duel.referee.outcome is not None for duel in duels),
    }


def worth(row: dict[str, Any]) -> float:
    """A line's worth: the mean of its games' values."""
    return float(np.mean(row["values"]))


def won(row: dict[str, Any]) -> float:
    """The share of its games in which a line takes the king or is decisively ahead."""
    return float(np.mean(np.array(row["values"]) >= DECISIVE))


def find(setting: Setting, color: chess.Color, plies: int, beam: int, path: Path) -> list[dict[str, Any]]:
    """Search for lines of one colour with at most ``plies`` requests; return every line that was played.

    Each line is written to ``path`` as soon as its games are played, and read from there when the search is resumed.
    """
    evaluator = BuiltinEvaluator(threads=1)
    rows: dict[str, dict[str, Any]] = {}
    if path.exists():
        rows = {row["line"]: row for row in map(json.loads, path.read_text(encoding="utf-8").splitlines())}
    path.parent.mkdir(parents=True, exist_ok=True)
    found: list[dict[str, Any]] = []
    layer: list[Line] = [()]
    with path.open("a", encoding="utf-8") as file:
        for ply in range(plies):
            level: list[dict[str, Any]] = []
            for line in layer:
                duels = _duels(setting, color, line, evaluator)
                for request in _next(duels):
                    longer = (*line, request.uci())
                    row = rows.get(" ".join(longer))
                    if row is None:
                        branched = [duel.branch() for duel in duels]
                        for duel in branched:
                            duel.ask(request)
                        row = _row(longer, branched)
                        file.write(json.dumps(row) + "\n")
                        file.flush()
                    level.append(row)
            found += level
            going = sorted((row for row in level if not row["over"]), key=lambda row: -row["promise"])
            layer = [tuple(row["line"].split()) for row in going[:beam]]
            best = max(map(worth, level), default=0.0)
            print(f"{chess.COLOR_NAMES[color]}, request {ply + 1}: {len(level)} lines, the best {best:.2f}", flush=True)
    return found


def chosen(rows: Sequence[dict[str, Any]], most: int, alike: int) -> list[Line]:
    """The lines that win most, but at most ``alike`` with the same first three requests."""
    found: list[Line] = []
    begun: dict[Line, int] = {}
    for row in sorted(rows, key=lambda row: (-worth(row), len(row["line"]), row["line"])):
        line = tuple(row["line"].split())
        # Of a line and its extensions only one is taken, since they win by the same requests.
        same = any(line[: len(other)] == other or other[: len(line)] == line for other in found)
        if len(found) < most and won(row) > 0.0 and not same and begun.get(line[:3], 0) < alike:
            begun[line[:3]] = begun.get(line[:3], 0) + 1
            found.append(line)
    return found


def hold(setting: Setting, lines: Sequence[tuple[chess.Color, Line]]) -> dict[str, Any]:
    """Play lines, the best of the search first, against a player. Return the number of lines that win most of their
    games, the share of games won by the first lines and by all, and each line's games.
    """
    evaluator = BuiltinEvaluator(threads=1)
    rows = []
    for count, (color, line) in enumerate(lines, 1):
        row = _row(line, _duels(setting, color, line, evaluator))
        rows.append({"color": chess.COLOR_NAMES[color], **{key: row[key] for key in ("line", "taken", "values")}})
        if count % 10 == 0:
            print(f"{count} of {len(lines)} lines", file=sys.stderr, flush=True)
    return {**asdict(setting), **head(NAME, "numpy", "numba"), **_summary(rows), "lines": rows}


def _summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    games = sum(len(row["values"]) for row in rows)
    wins = sum(int((np.array(row["values"]) >= DECISIVE).sum()) for row in rows)
    kings = sum(sum(row["taken"]) for row in rows)
    return {
        "winning_lines": sum(won(row) > 0.5 for row in rows),
        "top": round(float(np.mean([won(row) for row in rows[:_TOP]])), 4),
        **{
            name: [count, games, *(round(100 * share, 2) for share in _interval(count, games))]
            for name, count in (("won", wins), ("kings", kings))
        },
    }


def _interval(count: int, games: int) -> tuple[float, float, float]:
    """Low, middle and high share, 95 %, over single games."""
    return score_interval(elo_of_match(count, games, [0] * 5), count / games)


# ----------------------------------------------------------------------------------------------------------------------
# the commands
def _parser(name: str, about: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"python -m experiments.{NAME} {name}", description=about)
    usual = Setting()
    add = parser.add_argument
    add("--player", default=usual.player, help="its configuration (default %(default)s)")
    add("--nodes", type=positive, default=usual.nodes, help="that it has for a question (default %(default)s)")
    add("--results", type=Path, default=RESULTS, metavar="DIR", help=f"where {NAME}.json is kept")
    return parser


def _searches(path: Path) -> list[dict[str, Any]]:
    """The searches of a results file, the latest last, each with the players that its lines were played against."""
    return list(json.loads(path.read_text(encoding="utf-8"))["searches"]) if path.exists() else []


def _keep(path: Path, searches: Sequence[dict[str, Any]]) -> None:
    write_document(path, {**head(NAME, "numpy", "numba"), "searches": list(searches)})


def _find(arguments: Sequence[str]) -> int:
    parser = _parser("find", "Search for lines that win.")
    add = parser.add_argument
    add("--seed", type=int, default=Setting.seed, help="of the games (default %(default)s)")
    add("--games", type=positive, default=Setting.games, help="of each line (default %(default)s)")
    add("--plies", type=positive, default=6, help="requests of a line at most (default %(default)s)")
    add("--beam", type=positive, default=30, help="lines of a length that are gone on with (default %(default)s)")
    add("--most", type=positive, default=60, help="lines of a colour that are kept (default %(default)s)")
    add("--alike", type=positive, default=3, help="of them, that begin with the same three requests")
    add("--name", default="lines", metavar="TEXT", help="what the search is called (default %(default)s)")
    add("--runs", type=Path, default=RUNS, metavar="DIR", help="where all lines are kept, to go on with")
    parsed = parser.parse_args(arguments)
    setting = Setting(parsed.player, parsed.nodes, parsed.seed, parsed.games)

    def work() -> None:
        lines: list[dict[str, Any]] = []
        tried = 0
        for color in chess.COLORS:
            name = f"{chess.COLOR_NAMES[color]}-{parsed.nodes}nodes-seed{parsed.seed}-{parsed.games}games"
            rows = find(setting, color, parsed.plies, parsed.beam, parsed.runs / NAME / f"{parsed.player}-{name}.jsonl")
            tried += len(rows)
            by_line = {row["line"]: row for row in rows}
            for line in chosen(rows, parsed.most, parsed.alike):
                row = by_line[" ".join(line)]
                lines.append({"color": chess.COLOR_NAMES[color], **{k: row[k] for k in ("line", "taken", "values")}})
        lines.sort(key=lambda row: -worth(row))
        path = parsed.results / f"{NAME}.json"
        others = [search for search in _searches(path) if search["name"] != parsed.name]
        flags = {name: getattr(parsed, name) for name in ("plies", "beam", "most", "alike")}
        about = {"name": parsed.name, **asdict(setting), **flags, "commit": commit(), "tried": tried, "lines": lines}
        _keep(path, [*others, {**about, "held": []}])
        print(f"{len(lines)} lines of {tried} that were tried: {path.name}")

    return finished(work, ConfigurationError, OSError)


def _hold(arguments: Sequence[str]) -> int:
    parser = _parser("hold", "Play the lines that were found against a player.")
    add = parser.add_argument
    add("--seed", type=int, default=2, help="of the games (default %(default)s), another than that of the search")
    add("--games", type=positive, default=10, help="of each line (default %(default)s)")
    add("--lines", metavar="TEXT", help="those of the search of this name (default: of the last one)")
    add("--name", metavar="TEXT", help="what the result is called (default: the player and its nodes)")
    parsed = parser.parse_args(arguments)
    setting = Setting(parsed.player, parsed.nodes, parsed.seed, parsed.games)

    def work() -> None:
        path = parsed.results / f"{NAME}.json"
        searches = _searches(path)
        named = [search for search in searches if search["lines"] and parsed.lines in (None, search["name"])]
        if not named:
            raise OSError(f"{path.name}: got no lines, expected those of a search: run `find` before")
        search = named[-1]
        lines = [(row["color"] == "white", tuple(row["line"].split())) for row in search["lines"]]
        name = f"{parsed.name or f'{parsed.player}-{parsed.nodes}nodes'}-seed{parsed.seed}"
        held = {"name": name, **hold(setting, lines)}
        search["held"] = [*(other for other in search["held"] if other["name"] != name), held]
        _keep(path, searches)
        count, games, low, middle, high = held["won"]
        print(
            f"{name}: {held['winning_lines']} of {len(lines)} lines win mostly, the top ten {100 * held['top']:.1f} %; "
            f"{count} of {games} games, {middle:.1f} % ({low:.1f} to {high:.1f} %)"
        )

    return finished(work, ConfigurationError, OSError)


COMMANDS: Commands = {
    "find": (_find, "search for lines that win"),
    "hold": (_hold, "play them against a player"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of the commands; return the exit code."""
    return run(NAME, "Short scripted attacks in Reconnaissance Blind Chess.", COMMANDS, arguments)


if __name__ == "__main__":
    sys.exit(main())

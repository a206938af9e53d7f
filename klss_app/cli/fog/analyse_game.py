"""``klss analyse GAME.pgn`` without ``--ply``: every turn of a finished game, and its costliest moves.

The cost of a move is over the positions in its player's set; its luck on the true board is shown separately
(:mod:`darkchess.fog.analysis.whole_game`).

With ``--out FILE`` the file is at any moment a whole document of docs/analyse.md, with the turns known so far. An
interrupted analysis continues from there, if the game and the settings are the same.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import chess

from klss import __version__
from klss.support.text import counted, printable, read_text
from klss.support.whole_file import write_whole
from klss_app.cli.errors import FailedError, UsageError
from klss_app.progress import ProgressLine
from klss_app.web.summaries import CAP, summary

if TYPE_CHECKING:
    from darkchess.evaluation.evaluator import Evaluator
    from darkchess.fog.game.referee import Referee
    from darkchess.fog.players.configuration import Configuration
    from klss.table.limits import Limit

LEGEND = (
    "",
    "Cost: value of the engine's mixture less that of the move, over the positions",
    "possible for the mover. Luck: how much better than on average over these the",
    "move did on the true board, less the same of the mixture.",
)
"""What the columns of an analysis mean."""

_EVERY_S = 1.0
"""Least seconds between two writes of a file."""

_MOST_SHOWN = 60


def question(
    game: Referee, fen: str | None, configuration: str, evaluator: str, limit: Limit, seed: int
) -> dict[str, Any]:
    """The identity of an analysis: the game, and all settings on which the analysis depends."""
    return {
        "plies": game.ply,
        "configuration": configuration,
        "evaluator": evaluator,
        "nodes": limit.nodes,
        "time": limit.time_s,
        "seed": seed,
        "rules": game.ruleset.name,
        "klss": __version__,
        "fen": fen,
        "game": [move.uci() for move in game.moves],
    }


class AnalysisFile:
    """The file at ``path``; ``question`` has the fields of its document that don't depend on turns, ``document`` makes
    the whole document from the known turns.
    """

    def __init__(
        self, path: Path, question: Mapping[str, Any], document: Callable[[list[dict[str, Any]]], dict[str, Any]]
    ) -> None:
        self._path = path
        self._question = json.loads(json.dumps(question))
        self._document = document
        self._written = 0.0

    def turns(self) -> list[dict[str, Any]]:
        """Its turns, from the first on; none if there is no file yet. Raises :class:`UsageError`: it is something else,
        or of another game, or was made with other settings."""
        try:
            found = json.loads(read_text(self._path))
            turns = found["turns"]
            plies = [turn["ply"] for turn in turns]
            whole = all(turn.keys() >= {"color", "positions", "played", "best"} for turn in turns)
        except FileNotFoundError:
            return []
        except OSError as error:
            raise UsageError(f"--out: can't read {str(self._path)!r}: {error.strerror}") from None
        except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
            plies, whole = [], False
        if not whole or plies != list(range(len(plies))) or len(plies) > self._question["plies"]:
            raise UsageError(
                f"--out: got {str(self._path)!r}, which has no analysis of a whole game; expected a file with one, "
                "or a new file"
            )
        check_question(self._path, found, self._question)
        return list(turns)

    def keep(self, turns: list[dict[str, Any]], *, at_once: bool = False) -> None:
        """Write the known turns, at most once a second unless ``at_once``."""
        now = time.monotonic()
        if not at_once and now - self._written < _EVERY_S:
            return
        self._written = now
        try:
            write_whole(self._path, json.dumps(self._document(turns), allow_nan=False) + "\n")
        except OSError as error:
            raise FailedError(f"can't write the analysis to {error.filename}: {error.strerror}") from None


def check_question(path: Path, found: Mapping[str, Any], question: Mapping[str, Any]) -> None:
    """Raise :class:`UsageError` if the analysis at ``path`` has another identity than this one."""
    for key, wanted in question.items():
        if found.get(key) != wanted:
            raise UsageError(
                f"--out: got {str(path)!r}, an analysis with {key} {_shown(found.get(key))}; "
                f"expected {_shown(wanted)}, or a new file"
            )


def _shown(value: Any) -> str:
    """A field's value in an error message, short enough for one line."""
    text = json.dumps(value)
    return printable(text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…")


def turns_told(
    game: Referee,
    evaluator: Callable[[], Evaluator],
    chosen: Configuration,
    limit: Limit,
    seed: int,
    line: ProgressLine,
    file: AnalysisFile | None,
) -> list[dict[str, Any]]:
    """Documents of every turn, by :func:`klss_app.web.game_analysis.turn_document`; ``file`` keeps them as they come,
    and turns that it has already are not searched again. Raises :class:`FailedError`: it was interrupted."""
    found = [] if file is None else file.turns()
    if len(found) == game.ply:
        return found
    try:
        for turn in turn_documents(game, evaluator, chosen, limit, seed, len(found)):
            found.append(turn)
            line.tell(f"turn {turn['ply'] + 1} of {game.ply}")
            if file is not None:
                file.keep(found, at_once=len(found) == game.ply)
    except KeyboardInterrupt:
        line.close()
        how = "with --out FILE the same command would continue"
        if file is not None:
            how = "the same command goes on from there"
            file.keep(found, at_once=True)
        raise FailedError(f"interrupted after {len(found)} of {game.ply} turns; {how}") from None
    return found


def turn_documents(
    game: Referee,
    evaluator: Callable[[], Evaluator],
    chosen: Configuration,
    limit: Limit,
    seed: int,
    first: int = 0,
) -> Iterator[dict[str, Any]]:
    """Documents of every turn from ``first`` on, by :func:`klss_app.web.game_analysis.turn_document`."""
    from darkchess.fog.analysis.whole_game import turns
    from klss_app.web.game_analysis import turn_document

    chosen = replace(chosen, cap=min(chosen.cap, CAP))
    return map(turn_document, turns(game, evaluator, configuration=chosen, limit=limit, seed=seed, first=first))


def document(
    turns: Sequence[dict[str, Any]], asked: Mapping[str, Any], colors: Sequence[chess.Color] = chess.COLORS
) -> dict[str, Any]:
    """The document of docs/analyse.md for the turns known so far; ``asked`` is from :func:`question`, ``colors`` are
    those whose moves are summed up."""
    return {
        **asked,
        "summary": {chess.COLOR_NAMES[color]: summary(turns, chess.COLOR_NAMES[color]) for color in colors},
        "turns": list(turns),
    }


def text(answer: dict[str, Any], evaluator: str, first: chess.Color, fullmove: int) -> list[str]:
    """``answer`` for people; ``first`` moved first, at move ``fullmove``."""
    limit = f"{answer['time']:g} s" if answer["nodes"] is None else f"{answer['nodes']:,} nodes"
    lines = [f"{answer['configuration']} ({evaluator}), {limit} a turn, {counted(answer['plies'], 'turn')}"]
    for color, found in answer["summary"].items():
        mean = "?" if found["mean_cost"] is None else f"{found['mean_cost']:.3f}"
        luck = "?" if found["mean_luck"] is None else f"{found['mean_luck']:+.3f}"
        lines += [
            "",
            f"{color.capitalize()}: {counted(found['moves'], 'move')}, mean cost {mean} a move, luck {luck} a move",
        ]
        if not found["costliest"]:
            lines.append(" no move lost anything")
            continue
        lines.append(f" {'costliest':<15}{'cost':>6}{'possible':>16}   {'the engine plays':<20}{'luck':>10}")
        for each in found["costliest"]:
            number = fullmove + (each["ply"] + (not first)) // 2
            dots = "." if color == "white" else "..."
            best = f"{each['best']['san']} ({100 * each['best']['p']:.0f}%)"
            lines.append(
                f" {f'{number}{dots} ' + each['san']:<15}{each['cost']:>6.2f}{each['positions']:>16,}   "
                f"{best:<20}{each['turned']:>+10.2f}"
            )
    return [*lines, *LEGEND]

"""``klss analyse``: which moves of a game, or of all games of a file, cost the most; with ``--ply N`` the engine's
analysis of that turn, from the observations of the player to move alone.

The project's referee replays the game, and the engine gets the observations of one side at a time
(:mod:`klss_app.analysis`). Draws are taken from the record, not from the rules: a server's game may have continued
after a repetition that nobody claimed. Of one turn the output has nothing that the side could not see: no moves after
ply N, no names, no result. Only ``--once-over`` compares the engine's findings with the true game.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import chess

from darkchess.player_configuration import PlayerConfiguration
from klss import __version__
from klss.support.text import counted, printable
from klss.support.whole_file import write_whole
from klss_app.analysis.process import AnalysisProcess, Request, analysed
from klss_app.analysis.process import analyse as by_process
from klss_app.analysis.summaries import NODES, Report, Turns, summary, turn_text
from klss_app.analysis.turns import analysis_of
from klss_app.analysis.turns import turns as turns_of
from klss_app.cli.analysed_games import AnalysisFile, Archive, analyse, html_report, text
from klss_app.cli.errors import FailedError, UsageError
from klss_app.cli.game_option import FOG, Game
from klss_app.cli.match import add_workers
from klss_app.cli.options import (
    CONFIGURATION,
    MOST_BYTES,
    Parser,
    add_game_number,
    add_game_options,
    game_options,
    kept_game,
    output_file,
    readable,
    write_output,
    written_games_of,
)
from klss_app.cli.terminal import Terminal
from klss_app.flag_types import whole
from klss_app.front import BadGame, Reviewed
from klss_app.kept_games import Terms
from klss_app.progress import ProgressLine
from klss_app.stdout import print_document
from uci_bridge.match.workers import Work, workers_for

if TYPE_CHECKING:
    from darkchess.fog.game.rules import Ruleset
    from klss.play.kit import Spec

_ONE_TURN = ("once_over", "clock")
_GAMES = ("out", "html", "pgn_out", "all", "player", "workers", "scheduler")
"""The flags for one turn, and those for whole games."""


def _parser(game: Game = FOG) -> Parser:
    fog = game.name == "fog"
    parser = Parser(
        "analyse",
        "What the engine thinks at one turn of a game, from its player's observations alone: what it plays, the values "
        "of moves, its belief. Without --ply: which moves of a finished game cost the most.",
        game,
    )
    add = parser.add_argument
    if fog:
        add("path", metavar="GAME.pgn", help="a file of games, as klss games lists them")
        add_game_number(parser)
    else:
        whose = "klss rbc or reconchess" if game.chess else "klss play, board or match"
        add("path", metavar="FILE", help=f"a game's record (JSON of {whose})")
    turn = ("--ply",) if fog else ("--turn", "--ply")
    add(*turn, dest="ply", type=whole(0), metavar="N", help="after N turns of both sides (default: the whole game)")
    sides = "with --ply the side to move there, white or black; else the side in the summary (default: both)"
    add("--color", choices=["white", "black", "both"], metavar="C", help=sides)
    add("--configuration", default=game.default_player, metavar="NAME", help=f"the player that thinks: {CONFIGURATION}")
    limits = f"{game.of} (for a whole game {NODES} nodes by default)"
    add_game_options(parser, fen=False, seed_default=0, limits=limits)
    add("--json", action="store_true", help="one JSON document on stdout, progress on stderr")
    add("--ascii", action="store_true", help="letters instead of chess figures")
    if fog:
        add = parser.add_argument_group("for one turn, with --ply").add_argument
        add("--once-over", action="store_true", help="after a finished game: compare with the true position")
    add = parser.add_argument_group("for a whole game, without --ply").add_argument
    add("--out", metavar="FILE", help="keep each analysed game there; the same command continues")
    add("--html", metavar="FILE", help="write the board's review there, one file that opens without a server")
    if fog:
        add("--pgn", dest="pgn_out", metavar="FILE", help="write the game there with the analysis as comments")
    add("--all", action="store_true", help="every finished game of the file: which moves cost the most over all")
    add("--player", metavar="NAME", help="with --all: only the games and moves of this player")
    add_workers(add)
    parser.set_defaults(game=1, pgn_out=None, once_over=False)
    return parser


def run(arguments: Sequence[str], game: Game = FOG) -> int:
    """Run ``klss analyse``; see :mod:`klss_app.cli.main`."""
    parsed = _parser(game).parse(arguments)
    with_ply, wrong = ("without", _ONE_TURN) if parsed.ply is None else ("with", _GAMES)
    for name in wrong:
        if name in parsed.given:
            flag = name.removesuffix("_out").replace("_", "-")
            raise UsageError(f"--{flag}: got it {with_ply} --ply, where it says nothing (--help has the groups)")
    options = game_options(parsed)
    chosen = game.configuration(parsed.configuration, parsed.stockfish)
    if not analysis_of(game.kit).takes(chosen):
        raise UsageError(
            f"--configuration: got {parsed.configuration!r}, a player that values no single moves by a search of its "
            f"own; expected one that does, such as {game.default_player}"
        )
    if parsed.ply is None:
        return _games(parsed, game, options, chosen)
    kept = kept_game(game, Path(parsed.path), parsed.game, options.ruleset, least=0)
    there = kept.replay.game(parsed.ply)
    open_end = game is FOG and there.outcome is None  # a player who resigned, or was to move, has a turn there
    if parsed.ply >= kept.plies + open_end:
        raise UsageError(f"--ply: got {parsed.ply}, expected a turn of this game, which has {kept.plies} of them")
    side = chess.COLOR_NAMES[there.turn]
    if parsed.color not in (None, "both", side):
        raise UsageError(f"--color: got {parsed.color} for ply {parsed.ply}, where {side} is to move")
    answer, lines = (_fog_turn if game is FOG else _any_turn)(parsed, game, kept, options, chosen)
    if parsed.json:
        print_document(answer)
    else:
        Terminal(parsed.ascii).say(*lines)
    return 0


# ---------------------------------------------------------------------------------------- games of files
def _games_of(path: Path, game: Game, rules: Ruleset) -> Iterator[Reviewed | str]:
    """The games of a file, one a line unless they are PGN; or why one can't be read."""
    from darkchess.errors import RecordError
    from klss_app.web.fog_board import reviewed

    if game is FOG:
        for written in written_games_of(path):
            try:
                yield reviewed(written.record(), rules, written.number)
            except RecordError as error:
                yield str(error)
        return
    with readable(path, "a file with a game's record a line"), path.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(iter(partial(lines.readline, MOST_BYTES), ""), 1):
            if len(line) == MOST_BYTES:
                raise UsageError(f"got {str(path)!r}, whose line {number} has no end; expected a game's record a line")
            try:
                yield dataclasses.replace(game.front.opened(line), number=number)
            except BadGame as error:
                yield f"game {number}: {error}"


def _finished(path: Path, archive: Archive, game: Game, rules: Ruleset, line: ProgressLine) -> Iterator[Reviewed]:
    """The finished games of a file that belong to ``archive``; errors in reading others go to stderr. Raises
    :class:`UsageError`: there is none."""
    found = 0
    for kept in _games_of(path, game, rules):
        if isinstance(kept, str):
            archive.refused += 1
            line.close()
            print(printable(kept, 300), file=sys.stderr)
        elif kept.replay.outcome is None or not kept.plies:
            archive.unfinished += 1
        elif archive.seats(kept):
            found += 1
            yield kept
    if not found:
        whose = "" if archive.player is None else f" of {archive.player!r}"
        raise UsageError(
            f"got no game{whose} in {str(path)!r} that is over and can be read ({archive.refused:,} refused, "
            f"{archive.unfinished:,} not over); expected at least one"
        )


def _games(parsed: argparse.Namespace, game: Game, options: Terms, chosen: Spec) -> int:
    """Analyse every turn of a game, or with ``--all`` of every game of the file; return the exit code."""
    from uci_bridge.evaluators import evaluator_choice

    if parsed.player is not None and not parsed.all:
        raise UsageError("--player: got it without --all, expected both; --color chooses a side of one game")
    for name in ("game", "pgn_out"):
        if parsed.all and name in parsed.given:
            raise UsageError(f"--{name.removesuffix('_out')}: got it with --all, expected it for one game")
    out, html, pgn = (
        output_file(text, flag, parsed.path)
        for text, flag in ((parsed.out, "--out"), (parsed.html, "--html"), (parsed.pgn_out, "--pgn"))
    )
    # Limits by nodes, also the default one, promise repeatable turns, so Stockfish has to be reproducible too.
    nodes, time_s = NODES if not parsed.given & {"time", "nodes"} else parsed.nodes, parsed.time
    choice = dataclasses.replace(options.evaluator, reproducible=nodes is not None)
    evaluated = evaluator_choice(chosen, choice).name if isinstance(chosen, PlayerConfiguration) else None
    asked: Report = {
        "configuration": chosen.name, "evaluator": evaluated, "nodes": nodes, "time": time_s if nodes is None else None,
        "seed": options.seed, "rules": options.ruleset.name, "klss": __version__,
    }  # fmt: skip
    sides = tuple(side for side in ("white", "black") if parsed.color in (None, "both", side))
    front = game.front
    archive = Archive(front, parsed.player, sides)
    with contextlib.ExitStack() as stack:
        line = stack.enter_context(closing(ProgressLine(f"klss {game.spelled('analyse')}")))
        file = None if out is None else stack.enter_context(closing(AnalysisFile(out, asked)))
        if parsed.all:
            games = _finished(Path(parsed.path), archive, game, options.ruleset, line)
        else:
            only = kept_game(game, Path(parsed.path), parsed.game, options.ruleset, least=0)
            if game is FOG and only.replay.outcome is None:
                raise UsageError(f"got {parsed.path!r}, a game that is not over; expected one with a result, or --ply")
            games = iter([only])
        described = game.kit.text(chosen)
        request = Request(game.kit.name, described, choice.name, choice.stockfish, nodes, asked["time"], options.seed)
        turns = analyse(games, archive, partial(_searched, parsed, request, line), file)
    report, evaluator = archive.document(asked), game.kit.label(chosen, choice) or "no evaluator"
    answer, shown, above, lines = report, archive.kept, html_report(report, evaluator), list[str]()
    if not parsed.all and not archive.interrupted:
        summaries = {side: summary(turns, side) for side in sides}
        answer = {
            "plies": only.plies, **asked, "fen": only.fen, "game": front.moves(only.replay), "summary": summaries,
            "turns": turns,
        }  # fmt: skip
        report["phases"] |= answer["summary"]
        shown, above = {1: (only, turns)}, ""
        if report["summary"]["mean_cost"] is None:
            lines = [each for turn in turns if turn["color"] in sides for each in ("", *turn_text(turn))]
        write_output(pgn, "--pgn", lambda path: write_whole(path, front.annotated(only, turns)))
    if html is not None and shown:
        from klss_app.web.one_file import one_file

        write_output(html, "--html", lambda path: write_whole(path, one_file(front, shown, above)))
    if parsed.json:
        print_document(answer)
    else:
        Terminal(parsed.ascii).say(*text(report, evaluator), *lines)
    if archive.interrupted:
        how = "the same command goes on from there" if out else "with --out FILE the same command would continue"
        raise FailedError(f"interrupted after {counted(archive.games, 'game')}; {how}")
    return 0


def _searched(
    parsed: argparse.Namespace, request: Request, line: ProgressLine, games: Iterator[Reviewed]
) -> Iterator[tuple[Reviewed, Turns]]:
    """Analyse games as ``request`` says, in order: in this process, or by workers."""
    handed = deque[Reviewed]()

    def requests() -> Iterator[Request]:
        for each in games:
            handed.append(each)
            yield dataclasses.replace(request, text=each.text, rules=each.rules)

    if parsed.scheduler is None and (parsed.workers or 1) == 1:
        for one in requests():
            turns: Turns = []
            for turn in analysed(one):
                turns.append(turn)
                line.tell(f"game {handed[0].number}, turn {len(turns)} of {handed[0].plies}")
            yield handed.popleft(), turns
        return
    work = Work(AnalysisProcess, by_process, in_order=True)
    with closing(workers_for(work, parsed.workers, parsed.scheduler)) as workers:
        for turns in workers.results(requests()):
            line.tell(f"game {handed[0].number}")
            yield handed.popleft(), turns


# ---------------------------------------------------------------------------------------- one turn
def _fog_turn(
    parsed: argparse.Namespace, game: Game, kept: Reviewed, options: Terms, chosen: Spec
) -> tuple[Report, list[str]]:
    """The analysis of the turn after ``--ply`` half-moves, as a document and as text."""
    from darkchess.fog.analysis.analyst import Analyst
    from darkchess.fog.analysis.once_over import truth_at
    from darkchess.fog.players.named_fog_players import Configuration
    from klss_app.analysis import one_turn
    from uci_bridge.evaluators import evaluator_choice, make_evaluator

    if parsed.once_over and kept.replay.outcome is None:
        raise UsageError(f"--once-over: got {parsed.path!r}, a game that is not over; expected one with a result")
    assert isinstance(chosen, Configuration)
    choice, true = options.evaluator, kept.replay.game()
    with (
        closing(make_evaluator(chosen, choice, options.ruleset)) as evaluator,
        closing(ProgressLine("klss analyse")) as line,
    ):
        # An analyst that has seen the views of the side to move, and nothing else.
        color, analyst = true.positions[parsed.ply].turn, Analyst(chosen, evaluator, seed=options.seed)
        analyst.begin(color, true.setup)
        for view in true.observations(color)[: parsed.ply]:
            analyst.observe(view)
            line.tell(f"ply {view.ply} of {parsed.ply}, {analyst.position_set.size:,} positions possible")
        analysis = analyst.think(options.limit, progress=lambda state: line.tell(f"{int(state['nodes']):,} nodes"))
    name = evaluator_choice(chosen, choice).name
    answer = one_turn.document(analysis, analyst, chosen.name, name, options.seed)
    label = game.kit.label(chosen, choice) or name
    lines = one_turn.text(analysis, answer, label, Terminal(parsed.ascii).unicode)
    # The true game is used only here, after the analysis is complete.
    if parsed.once_over:
        position = true.positions[parsed.ply]
        answer["truth"] = truth_at(position, analysis, analyst.position_set)
        lines += ["", *one_turn.truth_text(answer["truth"], position.turn)]
    return answer, lines


def _any_turn(
    parsed: argparse.Namespace, game: Game, kept: Reviewed, options: Terms, chosen: Spec
) -> tuple[Report, list[str]]:
    """The record of that turn, and the same as text."""
    choice, replay = options.evaluator, kept.replay
    turn = next(
        turns_of(game.kit, replay, chosen, choice, options.limit, seed=options.seed, cap=sys.maxsize, first=parsed.ply)
    )
    return {**turn, "configuration": chosen.name, "seed": options.seed}, turn_text(turn)

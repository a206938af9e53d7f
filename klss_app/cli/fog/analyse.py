"""``klss analyse GAME.pgn --ply N``: the engine's analysis of that turn, from the views of the player to move alone;
without ``--ply`` the whole finished game, or all of a file (:mod:`klss_app.cli.fog.analyse_games`).

The project's referee replays the game; the engine gets the views of one side, and searches at ply N only, from scratch
(:mod:`darkchess.fog.analysis.analyst`). Draws are taken from the record, not from the rules: a server's game may have
continued after a repetition that nobody claimed. With ``--once-over`` the engine's findings are compared with the true
game. Without it the output has nothing that the side could not see: no moves after ply N, no names, no result.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import chess

from darkchess.fog.game.contest import DEFAULT_PLAYER
from klss import __version__
from klss.support.text import counted
from klss_app.cli.errors import FailedError, UsageError
from klss_app.cli.fog.analyse_report import BELIEFS, document, text, truth_document, truth_text
from klss_app.cli.games import FOG, Game
from klss_app.cli.options import (
    CONFIGURATION,
    GameOptions,
    Parser,
    add_game_number,
    add_game_options,
    game_options,
    output_file,
    pgn_game,
    whole,
)
from klss_app.cli.terminal import Terminal
from klss_app.progress import ProgressLine
from klss_app.stdout import print_document
from klss_app.web.summaries import NODES

if TYPE_CHECKING:
    from darkchess.evaluation.evaluator import Evaluator
    from darkchess.evaluation.registry import EvaluatorChoice
    from darkchess.fog.analysis.analyst import Analyst
    from darkchess.fog.game.record import GameRecord
    from darkchess.fog.game.referee import Referee
    from darkchess.fog.game.rules import Ruleset
    from darkchess.fog.players.configuration import Configuration

_ONE_TURN, _GAMES = ("belief", "once_over", "clock"), ("out", "html", "pgn_out", "all", "player")
"""The flags for one turn, and those for whole games."""


def _parser() -> Parser:
    parser = Parser(
        "analyse",
        "What the engine thinks at one turn of a game, from that player's views alone: its mixed strategy, the values "
        "of moves, its belief, and the lines that it expects. Without --ply: which moves of a finished game, or of all "
        "games of a file, cost the most.",
    )
    parser.add_argument("pgn", metavar="GAME.pgn", help="a file of games, as klss games lists them")
    add_game_number(parser)
    parser.add_argument("--ply", type=whole(0), metavar="N", help="after N half-moves (default: the whole game)")
    parser.add_argument(
        "--color",
        choices=["white", "black", "both"],
        metavar="C",
        help="with --ply the side to move there, white or black; else the side in the summary (default: both)",
    )
    parser.add_argument(
        "--configuration", default=DEFAULT_PLAYER, metavar="NAME", help=f"the player that thinks: {CONFIGURATION}"
    )
    limits = f" (for a whole game {NODES} nodes a move by default)"
    add_game_options(parser, fen=False, seed_default=0, limits=limits)
    add = parser.add_argument_group("for one turn, with --ply").add_argument
    add(
        "--belief",
        default=BELIEFS[0],
        choices=BELIEFS,
        metavar="NAME",
        help=f"weights of positions in the output: {', '.join(BELIEFS)} (uniform: all the same); the search "
        "uses those of its configuration",
    )
    add("--once-over", action="store_true", help="after a finished game: compare with the true position")
    add = parser.add_argument_group("for a whole game, without --ply").add_argument
    add("--out", metavar="FILE", help="keep each analysed game there; the same command continues")
    add("--html", metavar="FILE", help="write the board's review there, one file that opens without a server")
    add("--pgn", dest="pgn_out", metavar="FILE", help="write the game there with the analysis as comments")
    add(
        "--all", action="store_true", help="every finished game of the file: which moves cost the most over all of them"
    )
    add("--player", metavar="NAME", help="with --all: only the games and moves of this player")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout, progress on stderr")
    parser.add_argument("--ascii", action="store_true", help="letters instead of chess figures")
    return parser


def run(arguments: Sequence[str], game: Game = FOG) -> int:
    """Run ``klss analyse``; see :mod:`klss_app.cli.main`."""
    parsed = _parser().parse(arguments)
    with_ply, wrong = ("without", _ONE_TURN) if parsed.ply is None else ("with", _GAMES)
    for name in wrong:
        if name in parsed.given:
            flag = name.removesuffix("_out").replace("_", "-")
            raise UsageError(f"--{flag}: got it {with_ply} --ply, where it says nothing (--help has the groups)")
    options = game_options(parsed)
    chosen = game.configuration(parsed.configuration, parsed.stockfish)
    if chosen.search is None:
        raise UsageError(
            f"--configuration: got {parsed.configuration!r}, a player without a search of its own; expected one that "
            "solves for a mixed strategy, such as kluss or klss2021"
        )
    if parsed.ply is None:
        return _games(parsed, options, chosen)
    return _one_turn(parsed, options, chosen, pgn_game(Path(parsed.pgn), parsed.game))


def _evaluators(
    chosen: Configuration, choice: EvaluatorChoice, rules: Ruleset
) -> tuple[Callable[[], Evaluator], str, str]:
    """A maker of evaluators, and their name in documents and as people read it."""
    from uci_bridge.evaluators import evaluator_choice, evaluator_label, make_evaluator

    name = evaluator_choice(chosen, choice).name
    return partial(make_evaluator, chosen, choice, rules), name, evaluator_label(chosen, choice) or name


def _one_turn(parsed: argparse.Namespace, options: GameOptions, chosen: Configuration, record: GameRecord) -> int:
    """Analyse the turn after ``--ply`` half-moves; return the exit code."""
    if parsed.once_over and record.outcome is None:
        raise UsageError(f"--once-over: got {parsed.pgn!r}, a game that is not over; expected one with a result")
    game = _at_ply(record, parsed.ply, parsed.color, options.ruleset)
    make, name, label = _evaluators(chosen, options.evaluator_choice(path_suffices=True), options.ruleset)
    with closing(make()) as evaluator, closing(ProgressLine("klss analyse")) as line:
        analyst = _analyst(game, chosen, options.seed, evaluator, parsed.belief, line)
        analysis = analyst.think(options.limit, progress=lambda state: line.tell(f"{int(state['nodes']):,} nodes"))
    found = analyst.believed()
    answer = document(analysis, found, chosen.name, name, options.seed)
    truth = None
    # The true game is used only here, after the analysis is complete.
    if parsed.once_over:
        from darkchess.fog.analysis.once_over import truth_at

        truth = truth_at(game.position, analysis, analyst.position_set, analyst.weights)
        answer["truth"] = truth_document(truth)
    if parsed.json:
        print_document(answer)
        return 0
    terminal = Terminal(parsed.ascii)
    terminal.say(*text(analysis, found, answer, label, terminal.unicode))
    if truth is not None:
        terminal.say("", *truth_text(truth, game.turn))
    return 0


def _at_ply(record: GameRecord, ply: int, color: str | None, ruleset: Ruleset) -> Referee:
    """The game after ``ply`` half-moves; raises :class:`UsageError` if it is not the turn of ``color`` (None: any)."""
    from uci_bridge.bot.true_game import replayed

    game = replayed(dataclasses.replace(record, moves=record.moves[:ply]), ruleset)
    if game.ply < ply or game.outcome is not None:
        raise UsageError(f"--ply: got {ply}, expected a turn of this game, which has {len(record.moves)} half-moves")
    if color not in (None, "both", chess.COLOR_NAMES[game.turn]):
        raise UsageError(f"--color: got {color} for ply {ply}, where {chess.COLOR_NAMES[game.turn]} is to move")
    return game


def _analyst(
    game: Referee, chosen: Configuration, seed: int, evaluator: Evaluator, belief: Any, line: ProgressLine
) -> Analyst:
    """An analyst that has seen the views of the side to move, and nothing else."""
    from darkchess.fog.analysis.analyst import Analyst

    views = game.views(game.turn)
    analyst = Analyst(
        views[0],
        game.positions[0],
        game.ruleset,
        evaluator=evaluator,
        seed=seed,
        belief=belief,
        configuration=chosen,
    )
    for view in views[1:]:
        analyst.observe(view)
        line.tell(f"ply {view.ply} of {len(views) - 1}, {analyst.position_set.size:,} positions possible")
    return analyst


def _games(parsed: argparse.Namespace, options: GameOptions, chosen: Configuration) -> int:
    """Analyse every turn of a game, or with ``--all`` of every game of the file; return the exit code."""
    if parsed.player is not None and not parsed.all:
        raise UsageError("--player: got it without --all, expected both; --color chooses a side of one game")
    for name in ("game", "pgn_out"):
        if parsed.all and name in parsed.given:
            raise UsageError(f"--{name.removesuffix('_out')}: got it with --all, expected it for one game")
    out, html, pgn = (
        output_file(text, flag, parsed.pgn)
        for text, flag in ((parsed.out, "--out"), (parsed.html, "--html"), (parsed.pgn_out, "--pgn"))
    )

    from klss.play.limits import Limit
    from klss.support.whole_file import write_whole
    from klss_app.cli.fog import analyse_games
    from klss_app.web.fog_board import annotated
    from uci_bridge.bot.true_game import replayed

    # Limits by nodes, also the default one, promise repeatable turns, so Stockfish has to be reproducible too.
    limit = Limit(nodes=NODES)
    if parsed.given & {"time", "nodes"}:
        limit = Limit(time_s=None if parsed.nodes is not None else parsed.time, nodes=parsed.nodes)
    choice = dataclasses.replace(options.evaluator_choice(path_suffices=True), reproducible=limit.nodes is not None)
    rules, seed = options.ruleset, options.seed
    make, name, label = _evaluators(chosen, choice, rules)
    asked = {
        "configuration": chosen.name, "evaluator": name, "nodes": limit.nodes, "time": limit.time_s,
        "seed": seed, "rules": rules.name, "klss": __version__,
    }  # fmt: skip
    colors = tuple(color for color in chess.COLORS if parsed.color in (None, "both", chess.COLOR_NAMES[color]))
    archive = analyse_games.Archive(parsed.player, colors)
    with contextlib.ExitStack() as stack:
        line = stack.enter_context(closing(ProgressLine("klss analyse")))
        file = None if out is None else stack.enter_context(closing(analyse_games.AnalysisFile(out, asked)))
        path = Path(parsed.pgn)
        if parsed.all:
            records = analyse_games.finished_games(path, archive, line)
        else:
            record = pgn_game(path, parsed.game)
            if record.outcome is None:
                raise UsageError(f"got {parsed.pgn!r}, a game that is not over; expected one with a result, or --ply")
            records = iter([(parsed.game, record)])
        turns = analyse_games.analyse(
            records,
            archive,
            lambda record: replayed(record, rules),
            lambda game: analyse_games.turn_documents(game, make, chosen, limit, seed),
            file,
            line,
        )
    report = archive.document(asked)
    if not parsed.all and not archive.interrupted:
        answer = analyse_games.game_document(replayed(record, rules), record, turns, asked, colors)
        report["phases"] |= answer["summary"]
        if html is not None:
            _write_reviews(html, {1: (record, turns)}, rules)
        if pgn is not None:
            write_whole(pgn, annotated(record, turns))
    else:
        answer = report
        if html is not None and archive.kept:
            _write_reviews(html, archive.kept, rules, analyse_games.html_report(answer, label))
    if parsed.json:
        print_document(answer)
    else:
        Terminal(parsed.ascii).say(*analyse_games.text(report, label))
    if archive.interrupted:
        how = "the same command goes on from there" if out else "with --out FILE the same command would continue"
        raise FailedError(f"interrupted after {counted(archive.games, 'game')}; {how}")
    return 0


def _write_reviews(
    path: Path, games: Mapping[int, tuple[GameRecord, list[dict[str, Any]]]], ruleset: Ruleset, report: str = ""
) -> None:
    """Write the review of each of ``games``, a record with its turns, below the text ``report``."""
    from klss.support.whole_file import write_whole
    from klss_app.web.fog_board import FogBoard, reviewed
    from klss_app.web.one_file import one_file

    found = {number: (reviewed(record, ruleset), turns) for number, (record, turns) in games.items()}
    write_whole(path, one_file(FogBoard(), found, report))

"""``klss analyse GAME.pgn --ply N``: the engine's analysis of that turn, from the views of the player to move alone;
without ``--ply`` the whole finished game (:mod:`klss_app.cli.fog.analyse_game`).

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
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import chess

from darkchess.fog.game.contest import DEFAULT_PLAYER
from klss.support.text import counted
from klss_app.cli.errors import FailedError, UsageError
from klss_app.cli.fog.analyse_report import BELIEFS, document, text, truth_document, truth_text
from klss_app.cli.games import FOG, Game
from klss_app.cli.options import (
    GameOptions,
    Parser,
    add_game_number,
    add_game_options,
    game_options,
    nodes,
    pgn_game,
    whole,
    writable_file,
)
from klss_app.cli.terminal import Terminal
from klss_app.progress import ProgressLine
from klss_app.stdout import print_document

if TYPE_CHECKING:
    from darkchess.evaluation.evaluator import Evaluator
    from darkchess.evaluation.registry import EvaluatorChoice
    from darkchess.fog.analysis.analyst import Analyst
    from darkchess.fog.analysis.whole_game import Loss
    from darkchess.fog.game.record import GameRecord
    from darkchess.fog.game.referee import Referee
    from darkchess.fog.game.rules import Ruleset
    from darkchess.fog.players.configuration import Configuration
    from klss.table.limits import Limit

DEFAULT_SEED = 0
DEFAULT_ONCE_OVER_NODES = 2000
DEFAULT_BELIEF = "filter"
LIKELIEST_IN_JSON = 10


def _parser() -> Parser:
    half_moves = whole("a whole number of half-moves, 0 or more", 0, 99_999_999)
    parser = Parser(
        "analyse",
        "What the engine thinks at one turn of a game, from that player's views alone: its mixed strategy, the values "
        "of moves, its belief, and the lines that it expects. Without --ply: which moves of a finished game, or of all "
        "games of a file, cost the most.",
    )
    parser.add_argument("pgn", metavar="GAME.pgn", help="a file of games, as klss games lists them")
    add_game_number(parser)
    parser.add_argument("--ply", type=half_moves, metavar="N", help="after N half-moves (default: the whole game)")
    parser.add_argument(
        "--color",
        metavar="C",
        help="with --ply the side to move there, white or black; else the side in the summary (default: both)",
    )
    parser.add_argument(
        "--configuration",
        default=DEFAULT_PLAYER,
        metavar="NAME",
        help="the player that thinks: {searches}; NAME,field=value,…; FILE.toml",
    )
    limits = f" (for a whole game {DEFAULT_ONCE_OVER_NODES} nodes a move by default)"
    add_game_options(parser, fen=False, seed_default=DEFAULT_SEED, limits=limits)
    _add_one_turn_flags(parser.add_argument_group("for one turn, with --ply").add_argument)
    add = parser.add_argument_group("for a whole game, without --ply").add_argument
    add(
        "--out",
        metavar="FILE",
        help="keep the analysis there while it runs; the same command continues an interrupted one",
    )
    add("--html", metavar="FILE", help="write the board's review there, one file that opens without a server")
    add("--pgn", dest="pgn_out", metavar="FILE", help="write the game there with the analysis as comments")
    add(
        "--all", action="store_true", help="every finished game of the file: which moves cost the most over all of them"
    )
    add("--player", metavar="NAME", help="with --all: only the games and moves of this player")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout, progress on stderr")
    parser.add_argument("--ascii", action="store_true", help="letters instead of chess figures")
    return parser


def _add_one_turn_flags(add: Callable[..., Any]) -> None:
    add(
        "--belief",
        default=DEFAULT_BELIEF,
        metavar="NAME",
        help=f"weights of positions in the output: {', '.join(BELIEFS)} (uniform: all the same); the search "
        "uses those of its configuration",
    )
    add(
        "--likeliest",
        type=whole("a whole number of positions, 0 to 99999", 0, 99_999),
        metavar="N",
        help=f"show the N likeliest positions as boards (default: none; in JSON {LIKELIEST_IN_JSON})",
    )
    add(
        "--once-over",
        action="store_true",
        help="after a finished game: compare with the true position, and show the moves that lost most",
    )
    add(
        "--once-over-nodes",
        type=nodes,
        default=DEFAULT_ONCE_OVER_NODES,
        metavar="N",
        help="with --once-over: nodes a move to find the moves that lost most",
    )


@dataclass(frozen=True)
class _Thinker:
    """The configuration that analyses, and the rules."""

    chosen: Configuration
    choice: EvaluatorChoice
    ruleset: Ruleset
    seed: int

    def evaluator(self) -> Evaluator:
        """A new evaluator."""
        from uci_bridge.evaluators import make_evaluator

        return make_evaluator(self.chosen, self.choice, self.ruleset)

    def evaluator_names(self) -> tuple[str, str]:
        """The evaluator's name in documents, and as people read it."""
        from uci_bridge.evaluators import evaluator_choice, evaluator_label

        name = evaluator_choice(self.chosen, self.choice).name
        return name, evaluator_label(self.chosen, self.choice) or name


def run(arguments: Sequence[str], game: Game = FOG) -> int:
    """Run ``klss analyse``; see :mod:`klss_app.cli.main`."""
    parsed = _parser().parse(arguments)
    _check_flags(parsed)
    options = game_options(parsed)
    chosen = game.configuration(parsed.configuration, parsed.stockfish)
    if chosen.search is None:
        raise UsageError(
            f"--configuration: got {parsed.configuration!r}, a player without a search of its own; expected one that "
            "solves for a mixed strategy, such as kluss or klss2021"
        )
    thinker = _Thinker(chosen, options.evaluator_choice(path_suffices=True), options.ruleset, options.seed)
    if parsed.all and parsed.ply is None:
        return _archive(parsed, thinker)
    record = pgn_game(Path(parsed.pgn), parsed.game)
    if parsed.once_over and record.outcome is None:
        raise UsageError(f"--once-over: got {parsed.pgn!r}, a game that is not over; expected one with a result")
    if parsed.ply is None:
        return _whole_game(parsed, thinker, record)
    for flag, name in {"out": "out", "html": "html", "pgn_out": "pgn", "all": "all"}.items():
        if flag in parsed.given:
            raise UsageError(
                f"--{name}: got it with --ply, expected it for a whole game; > FILE keeps the answer for one turn"
            )
    return _one_turn(parsed, options, thinker, record)


def _check_flags(parsed: argparse.Namespace) -> None:
    """Raise :class:`UsageError` for flags that can be refused before the game is read."""
    if parsed.color not in (None, *chess.COLOR_NAMES) and (parsed.ply is not None or parsed.color != "both"):
        raise UsageError(f"--color: got {parsed.color!r}, expected white or black")
    if parsed.belief not in BELIEFS:
        raise UsageError(f"--belief: got {parsed.belief!r}, expected one of {', '.join(BELIEFS)}")
    if parsed.player is not None and not parsed.all:
        raise UsageError("--player: got it without --all, expected both; --color chooses a side of one game")
    if "once_over_nodes" in parsed.given and not parsed.once_over:
        raise UsageError("--once-over-nodes: got it without --once-over, expected both")
    if parsed.likeliest and parsed.belief == "uniform":
        raise UsageError(
            f"--likeliest: got {parsed.likeliest} with --belief uniform, where all positions weigh the same; "
            "expected another belief"
        )


def _one_turn(parsed: argparse.Namespace, options: GameOptions, thinker: _Thinker, record: GameRecord) -> int:
    """Analyse the turn after ``--ply`` half-moves; return the exit code."""
    game = _at_ply(record, parsed.ply, parsed.color, options.ruleset)
    with closing(thinker.evaluator()) as evaluator, closing(ProgressLine("klss analyse")) as line:
        analyst = _analyst(game, thinker, evaluator, parsed.belief, line)
        analysis = analyst.think(options.limit, progress=lambda state: line.tell(f"{int(state['nodes']):,} nodes"))
    name, label = thinker.evaluator_names()
    found = analyst.believed(LIKELIEST_IN_JSON if parsed.likeliest is None else parsed.likeliest)
    answer = document(analysis, found, thinker.chosen.name, name, thinker.seed)
    truth, losses = None, list[Any]()
    # The true game is used only here, after the analysis is complete.
    if parsed.once_over:
        from darkchess.fog.analysis.once_over import truth_at

        truth = truth_at(game.position, analysis, analyst.position_set, analyst.weights)
        losses = _losses(record, thinker, parsed.once_over_nodes)
        answer["truth"] = truth_document(truth, losses)
    if parsed.json:
        print_document(answer)
        return 0
    terminal = Terminal(parsed.ascii)
    terminal.say(*text(analysis, found, answer, label, parsed.likeliest or 0, terminal.unicode))
    if truth is not None:
        terminal.say("", *truth_text(truth, losses, game.turn))
    return 0


def _at_ply(record: GameRecord, ply: int, color: str | None, ruleset: Ruleset) -> Referee:
    """The game after ``ply`` half-moves; raises :class:`UsageError` if it is not the turn of ``color`` (None: any)."""
    from darkchess.fog.game.referee import Referee
    from uci_bridge.bot.true_game import ServerReferee

    if ply > len(record.moves):
        raise UsageError(f"--ply: got {ply}, expected 0 to {len(record.moves)}, the half-moves of this game")
    game = ServerReferee(record.fen, ruleset)
    for move in record.moves[:ply]:
        if game.outcome is not None:
            raise UsageError(f"--ply: got {ply}, expected at most {game.ply}, where the game was over")
        game.push(move)
    over = game.outcome
    # A server leaves draws to the players, so the last position of a record with a result may be a draw by our rules.
    if over is None and ply == len(record.moves) and record.outcome is not None:
        judged = Referee(record.fen, ruleset)
        for move in record.moves:
            if judged.outcome is None:
                judged.push(move)
        over = judged.outcome if judged.ply == ply else None
    if over is not None:
        raise UsageError(f"--ply: got {ply}, where the game is over; expected an earlier ply")
    if color not in (None, chess.COLOR_NAMES[game.turn]):
        raise UsageError(
            f"--color: got {color} for ply {ply}, where {chess.COLOR_NAMES[game.turn]} is to move; "
            f"expected {chess.COLOR_NAMES[game.turn]}, or ply {ply + 1}"
        )
    return game


def _analyst(game: Referee, thinker: _Thinker, evaluator: Evaluator, belief: Any, line: ProgressLine) -> Analyst:
    """An analyst that has seen the views of the side to move, and nothing else."""
    from darkchess.fog.analysis.analyst import Analyst

    views = game.views(game.turn)
    analyst = Analyst(
        views[0],
        game.positions[0],
        game.ruleset,
        evaluator=evaluator,
        seed=thinker.seed,
        belief=belief,
        configuration=thinker.chosen,
    )
    for view in views[1:]:
        analyst.observe(view)
        line.tell(f"ply {view.ply} of {len(views) - 1}, {analyst.position_set.size:,} positions possible")
    return analyst


def _losses(record: GameRecord, thinker: _Thinker, budget: int) -> list[Loss]:
    """The loss of each move of the whole game."""
    from darkchess.fog.analysis.once_over import losses
    from klss_app.web.reviews import replayed

    with closing(ProgressLine("klss analyse --once-over")) as line:
        return losses(
            replayed(record, thinker.ruleset),
            thinker.evaluator,
            nodes=budget,
            seed=thinker.seed,
            configuration=thinker.chosen,
            progress=lambda done, of: line.tell(f"move {done} of {of}"),
        )


def _check_whole_games(parsed: argparse.Namespace) -> tuple[Path | None, Path | None]:
    """The paths for the analysis and its page, if they are kept. Raises :class:`UsageError`: a flag is for one turn
    only."""
    if parsed.clock is not None:
        raise UsageError("--clock: got it without --ply, expected --nodes or --time to limit every turn")
    if parsed.once_over:
        raise UsageError("--once-over: got it without --ply, where the whole game is compared with the truth anyway")
    for flag in ("belief", "likeliest"):
        if flag in parsed.given:
            raise UsageError(f"--{flag}: got it without --ply, expected both: it shows one turn")
    out, html = (
        None if name is None else writable_file(Path(name), flag)
        for name, flag in ((parsed.out, "--out"), (parsed.html, "--html"))
    )
    _check_not_the_game(parsed, out, "--out")
    return out, html


def _check_not_the_game(parsed: argparse.Namespace, path: Path | None, flag: str) -> None:
    """Raise :class:`UsageError` if the output file is the game that is read."""
    if path is not None and path.exists() and Path(parsed.pgn).exists() and path.samefile(parsed.pgn):
        raise UsageError(f"{flag}: got {str(path)!r}, the game itself; expected another file")


def _pgn_file(parsed: argparse.Namespace) -> Path | None:
    """The path for the game with comments; None if it isn't written."""
    path = None if parsed.pgn_out is None else writable_file(Path(parsed.pgn_out), "--pgn")
    _check_not_the_game(parsed, path, "--pgn")
    return path


def _limited(parsed: argparse.Namespace, thinker: _Thinker) -> tuple[_Thinker, Limit]:
    """The limit of every turn, and the configuration for it. Limits by nodes, also the default one, promise repeatable
    turns, so Stockfish then has to be reproducible too."""
    from klss.table.limits import Limit

    limit = Limit(nodes=DEFAULT_ONCE_OVER_NODES)
    if parsed.given & {"time", "nodes"}:
        limit = Limit(time_s=None if parsed.nodes is not None else parsed.time, nodes=parsed.nodes)
    choice = dataclasses.replace(thinker.choice, reproducible=limit.nodes is not None)
    return dataclasses.replace(thinker, choice=choice), limit


def _colors(parsed: argparse.Namespace) -> tuple[chess.Color, ...]:
    return tuple(color for color in chess.COLORS if parsed.color in (None, "both", chess.COLOR_NAMES[color]))


def _archive(parsed: argparse.Namespace, thinker: _Thinker) -> int:
    """Analyse every game of the file; return the exit code."""
    out, html = _check_whole_games(parsed)
    if "game" in parsed.given:
        raise UsageError("--game: got it with --all, expected one of them")
    if "pgn_out" in parsed.given:
        raise UsageError("--pgn: got it with --all, expected it for one game; --game chooses one")

    from klss_app.cli.fog import analyse_archive, analyse_game
    from klss_app.web.reviews import replayed

    thinker, limit = _limited(parsed, thinker)
    name, label = thinker.evaluator_names()
    asked = analyse_archive.question(thinker.chosen.name, name, limit, thinker.seed, thinker.ruleset.name)
    archive = analyse_archive.Archive(parsed.player, _colors(parsed))
    with contextlib.ExitStack() as stack:
        line = stack.enter_context(closing(ProgressLine("klss analyse")))
        file = None if out is None else stack.enter_context(closing(analyse_archive.ArchiveFile(out, asked)))
        analyse_archive.read_archive(
            Path(parsed.pgn),
            archive,
            lambda record: replayed(record, thinker.ruleset),
            lambda game: analyse_game.turn_documents(game, thinker.evaluator, thinker.chosen, limit, thinker.seed),
            file,
            line,
        )
    answer = analyse_archive.document(archive, asked)
    if html is not None and archive.kept:
        _write_reviews(html, archive.kept, thinker.ruleset, analyse_archive.html_report(answer, label))
    if parsed.json:
        print_document(answer)
    else:
        Terminal(parsed.ascii).say(*analyse_archive.text(answer, label))
    if archive.interrupted:
        how = "the same command goes on from there" if out else "with --out FILE the same command would continue"
        raise FailedError(f"interrupted after {counted(archive.games, 'game')}; {how}")
    return 0


def _whole_game(parsed: argparse.Namespace, thinker: _Thinker, record: GameRecord) -> int:
    """Analyse every turn; return the exit code."""
    out, html = _check_whole_games(parsed)
    annotated_file = _pgn_file(parsed)
    if record.outcome is None:
        raise UsageError(f"got {parsed.pgn!r}, a game that is not over; expected one with a result, or --ply")

    from darkchess.board.position import START_FEN, Position
    from klss_app.cli.fog import analyse_game
    from klss_app.web.reviews import replayed

    thinker, limit = _limited(parsed, thinker)
    name, label = thinker.evaluator_names()
    game = replayed(record, thinker.ruleset)
    asked = analyse_game.question(game, record.fen, thinker.chosen.name, name, limit, thinker.seed)
    file = (
        None
        if out is None
        else analyse_game.AnalysisFile(out, asked, lambda turns: analyse_game.document(turns, asked))
    )
    with closing(ProgressLine("klss analyse")) as line:
        turns = analyse_game.turns_told(
            game, thinker.evaluator, thinker.chosen, limit, seed=thinker.seed, line=line, file=file
        )
    answer = analyse_game.document(turns, asked, _colors(parsed))
    if html is not None:
        _write_reviews(html, {1: (record, turns)}, thinker.ruleset)
    if annotated_file is not None:
        from klss.support.whole_file import write_whole
        from klss_app.annotated_pgn import annotated

        write_whole(annotated_file, annotated(record, turns))
    if parsed.json:
        print_document(answer)
        return 0
    start = Position.from_fen(record.fen or START_FEN)
    Terminal(parsed.ascii).say(*analyse_game.text(answer, label, start.turn, start.fullmove))
    return 0


def _write_reviews(
    path: Path, games: Mapping[int, tuple[GameRecord, list[dict[str, Any]]]], ruleset: Ruleset, report: str = ""
) -> None:
    """Write the review of each of ``games``, a record with its turns, below the text ``report``."""
    from klss.support.whole_file import write_whole
    from klss_app.web.fog_board import FogBoard, reviewed
    from klss_app.web.one_file import kept, one_file

    found = {number: kept(FogBoard(), reviewed(record, ruleset), turns) for number, (record, turns) in games.items()}
    write_whole(path, one_file(found, report))

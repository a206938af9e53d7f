"""``klss tables 1|2``: the paper's tables, computed here, beside the paper's figures; ``klss tables --search``: exact
exploitability by method and by nodes a move.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from klss.doors import openspiel
from klss.paper.methods import GADGETS, METHODS
from klss.paper.tables import TABLE_1, TABLE_2, Row, knowledge_row, table_1_row
from klss.support.text import Document, read_text
from klss_app.cli.errors import UsageError
from klss_app.cli.openspiel import add_limits, limits
from klss_app.cli.options import Parser, output_file, write_output
from klss_app.flag_types import count, seed, share
from klss_app.progress import ProgressLine
from klss_app.stdout import print_document
from uci_bridge.match.documents import commit, head, package_versions, write_document
from uci_bridge.match.workers import Work, workers_for

_ORDERS = ("1", "3", "5", "inf")
EPSILON = 0.25
"""The exploitability of the paper's blueprints."""
_NESTINGS = ("every", "update", "played", "allocated")
_TABLE_1_ONLY = ("epsilon", "player", "method", "order", "gadget", "nesting", "all")
_SEARCH_ONLY = ("by", "nodes", "out", "scheduler")
_NODES = "100,1000,10000"


def _parser() -> Parser:
    parser = Parser(
        "tables",
        "The paper's Table 1 (exploitability before and after nested k-KLSS) or 2 (knowledge); or, with --search, the "
        "exact exploitability of blueprints, subgame solving and searches.",
    )
    add = parser.add_argument
    add("table", nargs="?", choices=["1", "2"], help="which table")
    add("--game", action="append", metavar="G", help="the name of a row, or an OpenSpiel string; may be repeated")
    add_limits(parser)
    add("--seed", type=seed, metavar="N", help="accepted for uniformity; nothing here is random")
    add("--json", action="store_true", help="one JSON document on stdout")
    add = parser.add_argument_group("of table 1").add_argument
    least = "the blueprint plays each of m actions with at least E/m"
    add("--epsilon", type=share, default=EPSILON, metavar="E", help=least)
    add("--player", type=int, choices=[0, 1], default=0, help="the player of the strategy")
    nodes = f"nodes that a subgame contains: {', '.join(METHODS)}"
    add("--method", metavar="NAME", choices=METHODS, default="1-klss", help=nodes)
    add("--order", choices=_ORDERS, default="1", help="k of the method k-klss")
    top = "the gadget: maxmargin or resolve, then -reach or -prior"
    add("--gadget", metavar="NAME", choices=GADGETS, default="maxmargin", help=top)
    add("--nesting", choices=_NESTINGS, default="every", help="how the subgames are used")
    add("--all", action="store_true", help="all orders and nestings that apply")
    add = parser.add_argument_group("the table of searches").add_argument
    some = "make it, for these OpenSpiel strings (default: eight small games)"
    add("--search", nargs="*", metavar="GAME", help=some)
    add("--nodes", type=budgets, metavar="N,N", help=f"node budgets of a move (default: {_NODES})")
    only = "only these: uniform, cfr+, a name of --method, or a player of the game (default: all kinds)"
    add("--by", nargs="+", metavar="NAME", help=only)
    add("--out", type=Path, metavar="FILE", help="write each row as it is finished; go on from such a file")
    add("--scheduler", metavar="URL", help="on a dask cluster, for example tls://host:8786")
    return parser


def run(arguments: Sequence[str]) -> int:
    """Run ``klss tables``; see :mod:`klss_app.cli.main`."""
    parsed = _parser().parse(arguments)
    table = "--search" if "search" in parsed.given else f"table {parsed.table}"
    if (parsed.table is None) == (table != "--search"):
        raise UsageError("expected one of 1, 2 and --search (klss tables --help lists the flags)")
    owners = dict.fromkeys(_TABLE_1_ONLY, "table 1") | dict.fromkeys(_SEARCH_ONLY, "--search")
    if parsed.table is None:
        owners["game"] = "table 1 or table 2"
    for name, owner in owners.items():
        if name in parsed.given and owner != table:
            raise UsageError(f"--{name}: got it with {table}, expected it with {owner} only")
    if {"order", "method"} <= parsed.given:
        raise UsageError(f"--method: got {parsed.method} with --order {parsed.order}, expected one of the two")
    if "order" in parsed.given:
        parsed.method = f"{parsed.order}-klss"
    if parsed.nesting == "allocated" and parsed.method != "1-klss":
        raise UsageError(f"--nesting: got allocated with {parsed.method}, expected 1-klss (Theorem 5)")
    if parsed.nesting in ("update", "played") and not METHODS[parsed.method].updates:
        wanted = "expected K-klss or inf-kluss (Theorem 4)"
        raise UsageError(f"--nesting: got {parsed.nesting} with {parsed.method}, {wanted}")
    with limits(parsed) as memory_mb:
        openspiel()
        max_bytes = 1_000_000 * memory_mb
        if parsed.table is None:
            return _table_of_searches(parsed, max_bytes)
        return _table_1(parsed, max_bytes) if parsed.table == "1" else _table_2(parsed, max_bytes)


def _columns(parsed: argparse.Namespace) -> list[tuple[str, str]]:
    fixed = parsed.given & {"order", "method"}
    names = [f"{k}-klss" for k in _ORDERS] if parsed.all and not fixed else [parsed.method]
    nestings = list(_NESTINGS) if parsed.all and "nesting" not in parsed.given else [parsed.nesting]
    # Theorem 4 speaks of odd k and of the common-knowledge closure; Theorem 5 of k = 1.
    updates = dict.fromkeys(("update", "played"), lambda m: METHODS[m].updates)
    holds = {"every": lambda _: True, **updates, "allocated": lambda m: m == "1-klss"}
    return [(m, n) for n in nestings for m in names if holds[n](m)]


def _table_1(parsed: argparse.Namespace, max_bytes: int) -> int:
    rows: list[Row] = []
    for name in parsed.game or [row.name for row in TABLE_1]:
        for method, nesting in _columns(parsed):
            with closing(ProgressLine(f"{name}, {method}, {nesting}")) as progress:
                row = table_1_row(
                    name, epsilon=parsed.epsilon, player=parsed.player, method=method, gadget=parsed.gadget,
                    nesting=nesting, max_nodes=parsed.max_nodes, max_bytes=max_bytes,  # type: ignore[arg-type]
                    on_step=lambda n, bar=progress: bar.tell(f"{n:,} subgames"),  # type: ignore[misc]
                )  # fmt: skip
            rows.append(row)
            if not parsed.json:
                _print_row(row, first=len(rows) == 1)
    if parsed.json:
        print_document([_document(row) for row in rows])
    return 0


def _document(row: Row) -> Document:
    """A row in JSON, which has no infinity: order inf becomes "inf", an infinite ratio null."""
    order = "inf" if math.isinf(row.order) else int(row.order)
    return asdict(row) | {"order": order, "ratio": None if math.isinf(row.ratio) else row.ratio}


def _print_row(row: Row, first: bool) -> None:
    if first:
        print(
            f"{'game':<28}{'k':>4} {'nesting':<10}{'blueprint':>10}{'(paper)':>9}{'after':>9}{'(paper)':>9}{'ratio':>8}"
        )
    printed = next((game for game in TABLE_1 if game.name == row.game), None)
    before = after = ""
    if printed is not None and row.epsilon == EPSILON and row.player == 0:
        before = f"{printed.paper_blueprint:g}"
        if (row.method, row.gadget, row.nesting) == ("1-klss", "maxmargin", "every"):
            after = f"{printed.paper_after:g}"
    way = "" if (row.method, row.gadget) == (f"{row.order:g}-klss", "maxmargin") else f"  {row.method}, {row.gadget}"
    ratio = "∞" if math.isinf(row.ratio) else f"{row.ratio:.3f}"
    print(
        f"{row.game:<28}{row.order:>4g} "
        f"{row.nesting:<10}{row.blueprint:>10.4f}{before:>9}{row.after:>9.4f}{after:>9}{ratio:>8}{way}",
        flush=True,
    )


def _table_2(parsed: argparse.Namespace, max_bytes: int) -> int:
    report = []
    for name in parsed.game or [row.name for row in TABLE_2]:
        sizes = knowledge_row(name, max_nodes=parsed.max_nodes, max_bytes=max_bytes)
        knowledge = {("inf" if k < 0 else str(k)): v for k, v in sizes.mean.items()}
        counts = {"nodes": sizes.nodes, "infosets": sizes.infosets, "diameter": sizes.diameter}
        report.append({"game": name, **counts, "knowledge": knowledge})
        if not parsed.json:
            if len(report) == 1:
                print(f"{'game':<28}{'nodes':>8}{'infosets':>10}{'diam':>6}" + "".join(f"{k:>8}" for k in knowledge))
            values = "".join(f"{v:>8.2f}" for v in knowledge.values())
            print(f"{name:<28}{sizes.nodes:>8}{sizes.infosets:>10}{sizes.diameter:>6}{values}", flush=True)
    if parsed.json:
        print_document(report)
    return 0


def budgets(text: str) -> list[int]:
    """The type of ``--nodes``."""
    return [count(each) for each in text.split(",")]


class _Seats:
    """What a worker keeps from row to row: the game as one player sees it. ``line``: where it tells how far it is."""

    def __init__(self, line: ProgressLine | None, limits: dict[str, int]) -> None:
        self.line, self.limits, self.seated = line, limits, None

    def close(self, *, at_once: bool = False) -> None:
        """It has no processes."""


def _row(cell: Any, seats: Any) -> dict[str, Any]:
    from klss.openspiel.search_table import Seated

    if seats.seated is None or (seats.seated.name, seats.seated.player) != (cell.game, cell.player):
        seats.seated = Seated(cell.game, cell.player, **seats.limits)
    tell = None if seats.line is None else lambda moves: seats.line.tell(f"{_title(cell)}, {moves:,} moves")
    return dict(seats.seated.row(cell, tell))


def _table_of_searches(parsed: argparse.Namespace, max_bytes: int) -> int:
    from klss.openspiel.search_table import GAMES, Cell, cells

    wanted = list(cells(parsed.search or GAMES, parsed.by, parsed.nodes or budgets(_NODES)))
    packages = ("open_spiel", "numpy", "numba", "highspy")
    about: Document = head("search_table", *packages) if commit() else {"versions": package_versions(*packages)}
    out = output_file(parsed.out, "--out")
    done = _kept(out, about)
    rows, missing = [*done.values()], [cell for cell in dict.fromkeys(wanted) if cell not in done]
    limits = {"max_nodes": parsed.max_nodes, "max_bytes": max_bytes}
    with closing(ProgressLine(f"{len(missing)} rows")) as line:
        work = Work(partial(_Seats, None if parsed.scheduler else line, limits), _row)
        with closing(workers_for(work, None, parsed.scheduler)) as workers:
            for number, row in enumerate(workers.results(iter(missing)), 1):
                rows.append(row)
                line.tell(f"{number} made")
                write_output(out, "--out", partial(write_document, document=about | {"seed": 0, "rows": rows}))
    rows = [row for row in rows if tuple(row[name] for name in Cell._fields) in wanted]
    if parsed.json:
        print_document(rows)
        return 0
    # Both players in a line: the worse exploitability beside the mean.
    print(f"{'game and method':<86}{'worst':>8}{'mean':>8}{'subgames':>10}{'nodes':>9}{'seconds':>9}")
    both = dict[str, list[dict[str, Any]]]()
    for row in rows:
        both.setdefault(_title(Cell(*(row[name] for name in Cell._fields))), []).append(row)
    for title, pair in both.items():
        after, moves = [row["after"] for row in pair], sum(row["subgames"] for row in pair)
        nodes = sum(row["nodes_a_move"] * row["subgames"] for row in pair if row["nodes_a_move"]) / max(1, moves)
        seconds = sum(row["seconds"] for row in pair) / max(1, moves)
        figures = f"{max(after):>8.4f}{sum(after) / len(after):>8.4f}{moves:>10}{nodes:>9.0f}{seconds:>9.4f}"
        print(f"{title:<86}{figures}")
    return 0


def _kept(path: Path | None, about: Mapping[str, Any]) -> dict[tuple[Any, ...], dict[str, Any]]:
    """The rows of an earlier run, by what each is of."""
    if path is None or not path.exists():
        return {}
    from klss.openspiel.search_table import Cell

    try:
        found = json.loads(read_text(path))
        ours = all({*Cell._fields, "after", "subgames"} <= row.keys() for row in found["rows"])
        made, now = ((each.get("commit"), each["versions"]["klss"]) for each in (found, about))
        if ours and made == now:
            return {tuple(row[name] for name in Cell._fields): row for row in found["rows"]}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise UsageError(f"--out: {path} has no rows of klss tables --search; expected another file") from None
    raise UsageError(f"--out: {path} is of another command, or of another version of the code; expected another file")


def _title(cell: Any) -> str:
    where = {None: "", "root": ", from the root", "first move": ", from the first move"}
    how = "" if cell.gadget is None else f", {cell.gadget}, from {cell.start}"
    nodes = "" if cell.nodes is None else f", {cell.nodes:,} nodes"
    return f"{cell.game} {cell.method}{how or where[cell.start]}{nodes}"

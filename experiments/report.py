"""Render the tables of ``experiments/README.md`` from ``results/*.json``; claims go no further than the intervals.

``python -m experiments.report`` rewrites the part between README's markers. Every line has its number of games; an
experiment without a result says so.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from darkchess.fog.players.configuration import configuration
from experiments.belief import tables
from experiments.markdown import wrapped
from experiments.series.catalogue import ABLATIONS, FOG, TESTED, WITHOUT
from experiments.series.runner import RESULTS, Series
from experiments.series.summary import budget_text, pooled, read_document, told_together
from uci_bridge.match.statistics import Sprt

Document = dict[str, Any]

__all__ = ["BEGIN", "END", "convergence_curve", "load", "main", "names", "reading", "rendered", "short"]

README = Path(__file__).parent / "README.md"
BEGIN, END = "<!-- results: rendered by experiments/report.py -->", "<!-- end of results -->"
"""The lines before and after the rendered part."""

PAPER_PERCENT = 59.5
"""The paper, §7: its agent's score against its baseline."""

PAPERS_MATCH = "klss2021-baseline-0.5s"
"""The head-to-head match that the paper reports too."""

_SPELLED = {f"klss2021-{name}": f"klss2021,{change}" for name, change in ABLATIONS.items()} | {
    "kluss-filter": "kluss", "kluss-siamese": "kluss,belief=siamese", "kluss-both": "kluss,belief=both",
}  # fmt: skip
"""Names of players in older results -> their present names."""

_FIELDS = {
    "maxmargin_share": "caution", "root_node_fraction": "share", "uniform_mix": "even", "value_beta": "slope",
    "sample_by_weight": "drawn", "leaves_per_batch": "walks", "max_support": "most",
    "max_carried": "most_carried", "solver": "solver",
}  # fmt: skip
"""Earlier names of fields of ``kluss``, under which results were recorded."""

_VALUES = {"regrets": "pcfr+", "programs": "lp"}
"""Earlier names of their values."""

_NONE = "not run yet"


@dataclass(frozen=True)
class Study:
    """An experiment in README."""

    # a line about it, the command after ``python -m experiments.``, and an estimate of its time on two cores until
    # that is measured
    about: str
    command: str
    takes: str
    result: Callable[[Document], str]  # the result in the overview's line, from its document
    # title and text of README's section, if it has one
    title: str = ""
    section: Callable[[Document], list[str]] | None = None


def load(folder: Path, name: str) -> dict[str, Any] | None:
    """The document ``folder/name.json``, with matches of several seeds combined; None if there is none."""
    found = read_document(folder / f"{name}.json")
    if found is not None and "matches" in found:
        found["matches"] = told_together(found["matches"])
    return found


def short(player: str) -> str:
    """A player's name without the parts that both sides share; a player with a former name is given by its field.

    >>> short("klss2021,evaluator=stockfish,threads=1"), short("klss2021-noreach,threads=1")
    ('klss2021,evaluator=stockfish', 'klss2021,reach=false')
    """
    name, comma, fields = re.sub(r",threads=\d+", "", player).partition(",")
    return _SPELLED.get(name, name) + comma + fields


def names(match: Mapping[str, Any]) -> tuple[str, str]:
    """Both players' names; with their threads if nothing else distinguishes them."""
    a, b = match["a"], match["b"]
    return (short(a), short(b)) if short(a) != short(b) else (a, b)


def interval(match: Mapping[str, Any]) -> str:
    """Ends of the 95 % interval of the score, in per cent."""
    low, _, high = match["percent"]
    return f"{low:.1f} to {high:.1f} %"


def verdict(match: Mapping[str, Any]) -> int:
    """1 if A is better by the interval, -1 if B is, 0 if the interval contains 50 %."""
    low, _, high = match["percent"]
    return int(low > 50.0) - int(high < 50.0)


def reading(match: Mapping[str, Any]) -> str:
    """The conclusion on B against A that the match's interval allows."""
    worse, better = (f"`{names(match)[1]}` is {word}" for word in ("worse", "better"))
    return f"{(('no difference seen', worse, better))[verdict(match)]} (interval {interval(match)})"


def _count(match: Mapping[str, Any]) -> str:
    planned = match.get("games_planned")
    return f"{match['games']}" + (f" of {planned}" if planned and planned > match["games"] else "")


def _record(match: Mapping[str, Any]) -> str:
    return f"+{match['wins']} ={match['draws']} -{match['losses']}"


def _elo(match: Mapping[str, Any]) -> str:
    low, middle, high = (
        f"{end:+.0f}" if end is not None else sign + "∞" for end, sign in zip(match["elo"], ("-", "", "+"))
    )
    if match["elo"][1] is None:
        middle = "+∞" if match["score"] else "-∞"
    return f"{middle} ({low} to {high})"


# ----------------------------------------------------------------------------------------------------------------------
# one line of the overview


def _series_result(series: Series, found: Document) -> str:
    matches = found["matches"]
    if series.reading == "changes":
        sides = [verdict(match) for match in matches]
        return (
            f"of {len(sides)}: {sides.count(1)} worse, {sides.count(-1)} better, {sides.count(0)} without a difference "
            f"seen; {_ranged([match['games'] for match in matches])} games each"
        )
    if series.reading == "each":
        said = (f"({interval(match)}), {_count(match)} games" for match in matches)
    else:
        said = (f"({_count(match)})" for match in matches)
    return "; ".join(f"{_label(match)} {match['percent'][1]:.1f} % {each}" for match, each in zip(matches, said))


def _speed_result(found: Document) -> str:
    exact = [f"{row['game']} {row['ratio']:.1f} times as fast" for row in found["games"]]
    reached = [
        f"{row['game']} {min(each['seconds'] for each in row['methods'].values()):.3f} s v "
        f"{row['openspiel']['seconds']:.1f} s"
        for row in found["first_order"]
    ]
    return f"exactly: {'; '.join(exact)}. To a gap of 0.001: {'; '.join(reached)}"


def _ranged(numbers: Sequence[int]) -> str:
    return f"{min(numbers)}" if min(numbers) == max(numbers) else f"{min(numbers)} to {max(numbers)}"


def _label(match: Mapping[str, Any]) -> str:
    """The players and their budgets."""
    a, b = names(match)
    return f"`{a}` v `{b}`, {budget_text(match['budgets']['a'])}"


def _time(found: dict[str, Any] | None, estimate: str) -> str:
    """Half the seconds of the games (on two cores), if there are any; else the estimate."""
    matches = (found or {}).get("matches", [])
    seconds = sum(match.get("seconds", 0.0) for match in matches) / 2
    if not seconds or any(match["games"] < (match.get("games_planned") or 0) for match in matches):
        return estimate
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"


def overview(folder: Path) -> list[str]:
    """The table of all experiments."""
    lines = [
        "| experiment | command (`python -m experiments.…`) | time on two cores | last result |",
        "|---|---|---|---|",
    ]
    for name, study in _STUDIES.items():
        found = load(folder, _FILES.get(name, name))
        said = _NONE if found is None else study.result(found)
        lines.append(f"| {study.about} | `{study.command}` | {_time(found, study.takes)} | {said} |")
    return lines


# ----------------------------------------------------------------------------------------------------------------------
# the sections


def _table(matches: Sequence[Mapping[str, Any]]) -> list[str]:
    budgets = {budget_text(match["budgets"][side]) for match in matches for side in "ab"}
    common = f", {budgets.pop()}" if len(budgets) == 1 else ""  # reported once
    lines = [
        f"| match (A v B){common} | games | + = - of A | A's score | 95 % interval | Elo | reading |",
        "|---|---|---|---|---|---|---|",
    ]
    for match in matches:
        said = reading(match).replace(f" (interval {interval(match)})", "")
        lines.append(
            f"| {_label(match).removesuffix(common)} | {_count(match)} | {_record(match)} | "
            f"{match['percent'][1]:.1f} % | {interval(match)} | {_elo(match)} | {said} |"
        )
    return lines


def _series_section(series: Series, found: Document) -> list[str]:
    lines = _table(found["matches"])
    beside = {"each": _sentences, "changes": _changes, "tested": _tests}.get(series.reading)
    return lines if beside is None else [*lines, "", *beside(found)]


def _sentences(found: Document) -> list[str]:
    """One sentence on each match."""
    lines: list[str] = []
    for match in found["matches"]:
        low, middle, high = match["percent"]
        text = (
            f"`{short(match['a'])}` scores {middle:.1f} % against `{short(match['b'])}` over {_count(match)} games at "
            f"{budget_text(match['budgets']['a'])} ({reading(match)}); as White "
            f"{_percent(match['by_color']['white'])}, as Black {_percent(match['by_color']['black'])}."
        )
        if match["name"] == PAPERS_MATCH:
            inside = "lies inside" if low <= PAPER_PERCENT <= high else "lies outside"
            text += f" The paper's {PAPER_PERCENT} % {inside} the interval."
        lines += ["", *wrapped(text)]
    return lines[1:]


def _percent(record: Mapping[str, Any]) -> str:
    return f"{100 * record['score'] / record['games']:.1f} % of {record['games']}" if record["games"] else "no games"


def _changes(found: Document) -> list[str]:
    matches = found["matches"]
    base = matches[0]["a"].partition(",")[0]
    groups = {
        side: [f"`{names(match)[1]}` (interval {interval(match)}, {_count(match)} games)" for match in matches
               if verdict(match) == side] for side in (1, -1, 0)
    }  # fmt: skip
    said = [
        f"{word}: {', '.join(groups[side])}."
        for side, word in ((1, f"Worse than `{base}`"), (-1, "Better"), (0, "No difference seen"))
        if groups[side]
    ]
    said.append(
        f"Where nothing made any difference, at least one of {len(matches)} such intervals would still miss 50 % in "
        f"{100 * (1 - 0.95 ** len(matches)):.0f} % of all such tables."
    )
    with_stockfish = [match for match in matches if "stockfish" in match["a"]]
    if with_stockfish:
        said.append("`klss2021,evaluator=builtin` is measured against `klss2021` with Stockfish as its evaluator.")
    return wrapped(" ".join(said))


def convergence_curve(found: Mapping[str, Any], **wanted: str) -> list[dict[str, float]]:
    """Nodes, seconds and exploitability (the mean of both seats) of the rows whose columns have the values ``wanted``,
    one per number of nodes.
    """
    columns = found["samples"]["columns"]
    rows = [dict(zip(columns, row, strict=True)) for row in found["samples"]["rows"]]
    seats: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        if all(row[column] == value for column, value in wanted.items()):
            seats.setdefault(row["nodes"], []).append(row)
    given_text = ("mixture", "purified", "seconds_mean", "seconds_max")
    return [
        {"nodes": nodes, **{key: sum(row[key] for row in both) / len(both) for key in given_text}}
        for nodes, both in sorted(seats.items())
    ]


def _searchers(found: Mapping[str, Any]) -> list[str]:
    return [chosen["name"] for chosen in found["configurations"]]


def _most_lost(found: Mapping[str, Any], player: str) -> float:
    """The mixture's exploitability from the root with most nodes, on the game where it is largest."""
    curves = (convergence_curve(found, game=game["game"], player=player, start="root") for game in found["games"])
    return max(curve[-1]["mixture"] for curve in curves)


def _convergence(found: dict[str, Any]) -> list[str]:
    columns = found["samples"]["columns"]
    at = {column: columns.index(column) for column in columns}
    nodes = sorted({row[at["nodes"]] for row in found["samples"]["rows"]})
    starts = list(dict.fromkeys(row[at["start"]] for row in found["samples"]["rows"]))
    lines = [
        f"| game (its nodes) | player | from | {' | '.join(f'{count:,} nodes' for count in nodes)} |",
        f"|---|---|---|{'---|' * len(nodes)}",
    ]
    for game in found["games"]:
        for player in _searchers(found):
            for start in starts:
                curve = convergence_curve(found, game=game["game"], player=player, start=start)
                cells = [f"{p['mixture']:.4f} / {p['purified']:.4f} ({p['seconds_max']:.2g} s)" for p in curve]
                name = f"`{game['game']}` ({game['nodes']:,})"
                lines.append(f"| {name} | `{player}` | {start} | {' | '.join(cells)} |")
    note = (
        "Exploitability, both seats' mean, of the mixture / of what is played of it, and the longest search's seconds "
        "on a core; payoffs within ±1. *Root*: a search before anybody has moved, and all later ones nested in it; "
        "*first move*: the player begins there, as in chess, and takes the opponent to know what the player does not."
    )
    return [*lines, "", *wrapped(note)]


def _tests(found: Document) -> list[str]:
    """For each belief, the sequential test over all its matches against ``kluss`` without a belief."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for match in found["matches"]:
        if _was(match, "b", WITHOUT):
            name = "kluss" if _was(match, "a", "kluss") else short(match["a"])
            groups.setdefault(name, []).append(match)
    test = Sprt(*TESTED)
    lines = [
        f"| A, all its matches v `{WITHOUT}` | games | A's score | 95 % interval | log-likelihood ratio | decided |",
        "|---|---|---|---|---|---|",
    ]
    for name, group in groups.items():
        pool = pooled(group)
        state = test.state(pool["pairs"])
        decided = {None: "no", "elo0": f"{test.elo0:+g} Elo", "elo1": f"{test.elo1:+g} Elo"}[state.decision]
        lines.append(
            f"| `{name}` | {pool['games']} | {pool['percent'][1]:.1f} % | {interval(pool)} | {state.llr:.2f} "
            f"| {decided} |"
        )
    said = (
        f"The test of {test.elo0:g} against {test.elo1:+g} Elo is decided at ±{test.upper:.2f}. All matches of a "
        "player are taken as one, whatever the time a move."
    )
    return [*lines, "", *wrapped(said)]


def _was(match: Mapping[str, Any], side: str, name: str) -> bool:
    """Whether a side played like today's configuration ``name``, apart from threads, whatever its name was then."""
    recorded = match["configurations"][side]
    today = configuration(name).fields()
    renamed = {key: recorded[old] for key, old in _FIELDS.items() if old in recorded}
    played = recorded | {key: _VALUES.get(value, value) for key, value in renamed.items()}
    return all(played.get(key, value) == value for key, value in today.items() if key not in ("name", "threads"))


def _series(name: str) -> Study:
    """The study of a series of the catalogue."""
    series = FOG[name]
    return Study(
        series.about, f"series {name}", f"about {series.minutes} min", partial(_series_result, series), series.title,
        partial(_series_section, series),
    )  # fmt: skip


_FILES = {"paper_tables": "tables"}
"""Studies whose results have another name."""

_STUDIES = {
    **{name: _series(name) for name in ("head_to_head", "opponents", "ablations", "parts")},
    "convergence": Study(
        "exploitability of the searches' play on small games", "convergence", "2 min",
        lambda found: "; ".join(f"{name} {_most_lost(found, name):.3f} at most" for name in _searchers(found)),
        "Exploitability on small games", _convergence,
    ),
    "belief_rank": Study(
        "how likely the truth is to each learned belief, in held-out games", "belief rank", "20 min",
        lambda found: "; ".join(
            f"{row['belief']} {row['sizes']['20']['nats']:.2f} nats" for row in tables.main_beliefs(found)
        ),
        "The truth under learned beliefs", tables.rank,
    ),
    "belief_loss": Study(
        "what moves lose at the true position, with each belief", "belief loss experiments/runs/head_to_head", "20 min",
        lambda found: "; ".join(
            f"{arm} {found['summary'][arm]['loss']:.4f}"
            for arm in ("uniform", "value", "filter", "both") if arm in found["summary"]
        ),
        "Loss at the true position", tables.loss,
    ),
    "belief_held": Study(
        "how often the truth is in a set that had too little time",
        "belief held experiments/runs/head_to_head", "5 min",
        lambda found: "; ".join(
            f"cut {'at the least likely' if arm == 'likeliest' else arm}: missing at {each['without_truth']} of "
            f"{each['turns']} turns" for arm, each in found["summary"].items()
        ),
    ),
    **{name: _series(name) for name in ("belief_games", "headroom", "ruler")},
    "paper_tables": Study(
        "exploitability and knowledge sets, as `klss tables`", "paper_tables measure", "5 min",
        lambda found: "[docs/tables.md](../docs/tables.md)",
    ),
    "methods": Study(
        "methods and gadgets of nested subgame solving on small games", "methods measure", "2 h",
        lambda found: "[docs/tables.md](../docs/tables.md)",
    ),
    "openspiel_speed": Study(
        "`klss solve` v OpenSpiel's sequence-form program, and its CFR+", "openspiel_speed", "1 min", _speed_result
    ),
}  # fmt: skip


def rendered(folder: Path, plots: Path | None = None) -> str:
    """The part between README's markers, from the JSON files in ``folder``, with the existing SVGs in ``plots``."""
    lines = overview(folder)
    for name, study in _STUDIES.items():
        found = load(folder, name) if study.section is not None else None
        if found is None or study.section is None:
            continue
        lines += ["", f"### {study.title}", "", *study.section(found)]
        for plot in sorted(plots.glob(f"{name}*.svg")) if plots is not None else []:
            lines += ["", f"![{study.title}](plots/{plot.name})"]
        lines += ["", *wrapped(_provenance(found))]
    return "\n".join(lines)


def _provenance(found: dict[str, Any]) -> str:
    """The versions and the date of a result."""
    commits = {
        str(session["commit"])[:10] + (" and changes" if session.get("modified") else "")
        for match in found.get("matches", [])
        for session in match.get("sessions", [])
    } or {str(found["commit"] or "unknown")[:10]}
    versions = ", ".join(f"{name} {version}" for name, version in (found["versions"] or {}).items() if version)
    played = f"commit {', '.join(sorted(commits))}" + (f"; {versions}" if versions else "")
    return f"`results/{found['experiment']}.json`, {found['created']}; {played}."


def main(arguments: Sequence[str] | None = None) -> int:
    """Render README's tables, or print them; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m experiments.report", description="README's tables from the JSONs")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="DIR", help="of the JSONs")
    parser.add_argument("--print", action="store_true", dest="shown", help="print them, write nothing")
    parsed = parser.parse_args(arguments)
    text = rendered(parsed.results, Path(__file__).parent / "plots")
    if parsed.shown:
        print(text)
        return 0
    before, begin, rest = README.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        print(f"README.md: expected the lines {BEGIN} and {END}", file=sys.stderr)
        return 1
    README.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

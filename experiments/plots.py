"""Plots of the experiments' results, from ``results/*.json`` alone.

``python -m experiments.plots`` draws each existing result into ``experiments/plots/*.svg`` (``--format png`` for a
quick view). Colours are Okabe and Ito's, which colour-blind readers can distinguish; marks and lines differ too. The
same JSON gives the same bytes. Needs matplotlib (the extra ``experiments``).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from experiments.report import PAPER_PERCENT, PAPERS_MATCH, convergence_curve, load, names
from experiments.series.runner import RESULTS
from experiments.series.summary import budget_text

__all__ = ["PLOTS", "main"]

PLOTS = Path(__file__).parent / "plots"
"""The folder of the SVG files."""

BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "#666666"

Document = dict[str, Any]


def _forest(axes: Any, document: Document, names: Sequence[str], title: str) -> None:
    """Draw a dot and a 95 % interval for each match, with its numbers beside it."""
    matches = document["matches"]
    rows = range(len(matches))
    for row, match in zip(rows, matches):
        low, middle, high = match["percent"]
        clear = low > 50.0 or high < 50.0
        axes.plot([low, high], [row, row], color=BLUE, linewidth=2, solid_capstyle="butt", zorder=2)
        axes.plot(middle, row, "o", markersize=8, color=BLUE, mfc=BLUE if clear else "white", zorder=3, clip_on=False)
        axes.text(
            1.02, row, f"{middle:.1f} % ({low:.0f} to {high:.0f})", transform=axes.get_yaxis_transform(), va="center"
        )
    axes.axvline(50.0, color=GREY, linewidth=1, linestyle="--", zorder=1)
    axes.set_yticks(list(rows), [f"{name}\n{match['games']} games" for name, match in zip(names, matches)])
    axes.set_ylim(len(matches) - 0.5, -0.5)
    axes.set_xlim(0, 100)
    axes.set_xlabel(f"{_whose(document)} score (%), 95 % interval; filled where it leaves out 50 %")
    axes.set_title(title, loc="left")
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)


def _players(document: Document) -> list[str]:
    """The players that are A in some match, by their named configurations."""
    return list(dict.fromkeys(match["a"].partition(",")[0] for match in document["matches"]))


def _whose(document: Document) -> str:
    """The player whose scores are drawn, in the genitive; the first one named if there are several."""
    players = _players(document)
    return f"{players[0]}'s" if len(players) == 1 else "the first one's"


def _strength(document: Document, figure: Any) -> None:
    """Opponents, ablations, parts or head-to-heads, as a forest plot."""
    matches = document["matches"]
    budgets = list(dict.fromkeys(budget_text(match["budgets"]["a"]) for match in matches))
    several = len(_players(document)) > 1
    given_text = [names(match) for match in matches]
    labels = [f"{a} v {b}" if several else f"v {b}" for a, b in given_text]
    for number, match in enumerate(matches):
        if len(budgets) > 1:
            labels[number] += f", {budget_text(match['budgets']['a']).removesuffix(' a move')}"
        if "stockfish" in match["a"]:
            labels[number] += "\n(klss2021 with Stockfish)"
    figure.set_size_inches(8.6, 1.5 + 0.62 * len(labels))
    axes = figure.subplots()
    title = document["experiment"].replace("_", " ").capitalize()
    _forest(axes, document, labels, title if len(budgets) > 1 else f"{title}, {budgets[0]}")
    for row, match in enumerate(matches):
        if match["name"] == PAPERS_MATCH:
            axes.plot([PAPER_PERCENT] * 2, [row - 0.5, row + 0.5], color=ORANGE, linewidth=1.5, linestyle=":", zorder=1)
            axes.text(PAPER_PERCENT + 0.8, row + 0.42, f"the paper: {PAPER_PERCENT} %", color=ORANGE, va="center")


def _convergence(document: Document, figure: Any) -> None:
    """Exploitability against nodes and against the seconds of the longest search, one row per game."""
    figure.set_size_inches(10.0, 2.6 * len(document["games"]) + 0.6)
    players = [chosen["name"] for chosen in document["configurations"]]
    lines = [
        ("mixture", "root", "-", "o"),
        ("purified", "root", "--", "s"),
        ("mixture", "first move", ":", "^"),
    ]
    grid = figure.subplots(len(document["games"]), 2, squeeze=False, sharey="row", sharex="col")
    for row, game in zip(grid, document["games"]):
        for player, color in zip(players, (BLUE, ORANGE, GREEN)):
            for key, start, style, mark in lines:
                curve = convergence_curve(document, game=game["game"], player=player, start=start)
                for axes, x in zip(row, ("nodes", "seconds_max")):
                    points = sorted((point[x], point[key]) for point in curve)
                    label = f"{player}, {key}" + ("" if start == "root" else f", from the {start}")
                    axes.plot(*zip(*points), style, marker=mark, markersize=4, color=color, linewidth=1.3, label=label)
        for axes in row:
            axes.set_xscale("log")
            axes.set_ylim(bottom=0.0)
            axes.grid(color="#dddddd", linewidth=0.6)
        row[0].set_title(f"{game['game']}, {game['nodes']:,} nodes", loc="left", fontsize=10)
        row[0].set_ylabel("exploitability")
    grid[-1][0].set_xlabel("nodes a move (log scale)")
    grid[-1][1].set_xlabel("seconds of the longest search, of a core (log scale)")
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=3, frameon=False, fontsize=9)


_SHOWN = (("uniform", GREY), ("exp(-bu)", ORANGE), ("values + value", BLUE), ("both + value", GREEN))
"""Beliefs whose histograms are drawn."""


def _beliefs(document: Document, figure: Any) -> None:
    """Each belief's weight of the truth, the truth's quantiles, and the reliability of the belief."""
    figure.set_size_inches(11.0, 8.0)
    axes = figure.subplots(2, 2)
    rows = document["beliefs"]
    for shift, (least, color) in enumerate((("20", BLUE), ("100", ORANGE), ("5000", GREEN))):
        given_text = [row["sizes"][least] for row in rows]
        if not any(size["turns"] for size in given_text):
            continue
        places = [row + 0.25 * shift for row in range(len(rows))]
        nats, errors = ([size.get(name, 0.0) for size in given_text] for name in ("nats", "nats_error"))
        label = f"{least} or more possible ({given_text[0]['turns']} turns)"
        axes[0][0].barh(places, nats, 0.25, xerr=[2 * error for error in errors], color=color, label=label)
    axes[0][0].set_yticks([row + 0.25 for row in range(len(rows))], [row["belief"] for row in rows])
    axes[0][0].invert_yaxis()
    axes[0][0].set_xlabel("nats on the truth above uniform, two standard errors")
    axes[0][0].legend(frameon=False, fontsize=8)
    middles = [(i + 0.5) / 20 for i in range(20)]
    ends = [i / 20 for i in range(21)]
    by_name = {row["belief"]: row["histograms"] for row in rows}
    panels = (
        (axes[0][1], "quantile", "weight of what is worth less than the truth", _SHOWN),
        (axes[1][0], "rank", "weight of what is held likelier than the truth", _SHOWN[1:]),
    )
    for panel, key, label, shown in panels:
        for name, color in shown:
            counts = by_name[name][key]
            panel.step(middles, [count / sum(counts) for count in counts], where="mid", color=color, label=name)
        panel.axhline(0.05, color=GREY, linewidth=1, linestyle=":")
        panel.set_xlabel(f"{label} (dotted: if it were true)")
        panel.set_ylabel("share of the turns")
        panel.legend(frameon=False, fontsize=8)
    reliability = axes[1][1]
    for name, color in _SHOWN[1:]:
        counts = by_name[name]["rank"]
        reached = [sum(counts[:i]) / sum(counts) for i in range(21)]
        reliability.plot(ends, reached, color=color, marker="o", markersize=3, label=name)
    reliability.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle=":")
    reliability.set_xlabel("weight of the likeliest positions taken together")
    reliability.set_ylabel("how often the truth is among them")


def _weighting(document: Document, figure: Any) -> None:
    """How often the truth is among the likeliest positions, for each label of the games that were tested."""
    told = document["tested"]["reliability"]
    shares = [float(name) for name in told["columns"][2:]]
    labels = sorted({row[0] for row in told["rows"]})
    figure.set_size_inches(9.0, 6.0)
    panels = figure.subplots(2, -(-len(labels) // 2), squeeze=False, sharex=True, sharey=True).reshape(-1)
    for panel, label in zip(panels, labels, strict=False):
        for name, color in (("filter", ORANGE), ("learned", BLUE)):
            (reached,) = (row[2:] for row in told["rows"] if row[:2] == [label, name])
            panel.plot(shares, reached, color=color, marker="o", markersize=3, label=name)
        panel.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle=":")
        panel.set_title(label, fontsize=9)
    panels[0].legend(frameon=False, fontsize=8)
    figure.supxlabel("weight of the likeliest positions taken together", fontsize=9)
    figure.supylabel("how often the truth is among them", fontsize=9)


_DRAWN: dict[str, Callable[[Document, Any], None]] = {
    "head_to_head": _strength,
    "opponents": _strength,
    "ablations": _strength,
    "parts": _strength,
    "convergence": _convergence,
    "belief_rank": _beliefs,
    "belief_games": _strength,
    "weighting_fog": _weighting,
}
"""Result -> the function that draws it."""


def draw(document: Document, how: Callable[[Document, Any], None], path: Path) -> None:
    """Draw one plot into ``path`` (``.svg`` or ``.png``)."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    vector = path.suffix == ".svg"
    # No date and no version in the file's head: they would make equal figures differ.
    head: Document = {"Date": None, "Creator": "klss"} if vector else {"Software": "klss"}
    style: Any = {
        "svg.hashsalt": "klss",
        "font.family": "DejaVu Sans",
        "axes.spines.top": False,
        "axes.spines.right": False,
    }
    with rc_context(style):
        figure = Figure(layout="constrained")
        how(document, figure)
        figure.savefig(path, dpi=110, metadata=head)


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw all existing results; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m experiments.plots", description="plots from results/*.json")
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="DIR", help="of the JSONs")
    parser.add_argument("--plots", type=Path, default=PLOTS, metavar="DIR", help="where the plots go")
    parser.add_argument("--format", choices=("svg", "png"), default="svg", help="(default svg)")
    parsed = parser.parse_args(arguments)
    parsed.plots.mkdir(parents=True, exist_ok=True)
    for name, how in _DRAWN.items():
        document = load(parsed.results, name)
        if document is None:
            print(f"{name}: no {name}.json, left out", file=sys.stderr)
            continue
        path = parsed.plots / f"{name}.{parsed.format}"
        draw(document, how, path)
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())

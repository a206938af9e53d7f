"""A player's belief as a figure: the board in its view, and on every unseen square the likeliest enemy piece and the
probability of any. Only this file of the command line imports matplotlib.

Unseen squares are shades of one hue, darker with the probability, so that the figure is readable without colour vision
and in print; seen squares are grey. Equal beliefs give equal bytes.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import chess

from klss.errors import INSTALL_EXTRAS
from klss_app.cli.errors import FailedError, UsageError

if TYPE_CHECKING:
    from darkchess.fog.analysis.analyst import Analysis

__all__ = ["check_matplotlib", "save_plot"]

_SEEN = ("#c9c9c9", "#e4e4e4")
"""Dark and light seen squares."""
_SHADES = "Blues"
_LIGHTEST, _DARKEST = 0.03, 0.62
"""The part of the colour map that is used: black pieces stay legible on its darkest colour."""
_OWN = "#8a4b08"
"""Colour of the frame of own pieces; brown and blue differ also for colour-blind readers."""
_SHOWN = 0.005
_SIZE_IN = (8.6, 8.2)


def check_matplotlib() -> None:
    """Raise :class:`UsageError` if matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        raise UsageError(f"--plot: matplotlib is not installed; expected it: {INSTALL_EXTRAS}; or leave --plot out")


def save_plot(path: Path, analysis: Analysis) -> None:
    """Draw the belief of ``analysis`` into ``path`` (``.svg`` or ``.png``). Raises :class:`FailedError`: that can't be
    written."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    vector = path.suffix.lower() == ".svg"
    # No date and no version in the file's head: they would make equal figures differ.
    head: dict[str, Any] = {"Date": None, "Creator": "klss"} if vector else {"Software": "klss"}
    with rc_context({"svg.hashsalt": "klss", "font.family": "DejaVu Sans"}):
        figure = Figure(figsize=_SIZE_IN, layout="constrained")
        _draw(figure, analysis)
        try:
            figure.savefig(path, dpi=150, metadata=head, format=path.suffix.lower().removeprefix("."))
        except OSError as error:
            raise FailedError(f"--plot: can't write {str(path)!r}: {error.strerror}") from None


def _draw(figure: Any, analysis: Analysis) -> None:
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import ListedColormap, Normalize
    from matplotlib.patches import Patch

    view = analysis.view
    side, other = ("White", "black") if view.color else ("Black", "white")
    dots = "." if view.color else "..."
    sampled = "" if analysis.capped_by is None else " (a sample)"
    possible = f"{analysis.positions:,} position{'s' if analysis.positions != 1 else ''} possible{sampled}"
    if analysis.belief != "uniform":
        possible += f", weighed by the {analysis.belief}"
    shades = ListedColormap(colormaps[_SHADES]([_LIGHTEST + (_DARKEST - _LIGHTEST) * i / 255 for i in range(256)]))
    axes = figure.add_subplot()
    axes.set_title(
        f"What {side} holds possible after ply {view.ply} (move {view.fullmove}{dots})\n{possible}", fontsize=13
    )
    for square in chess.SQUARES:
        _square(axes, analysis, square, shades)
    axes.set(xlim=(0, 8), ylim=(0, 8), aspect="equal")
    middles = [i + 0.5 for i in range(8)]
    axes.set_xticks(middles, list("abcdefgh" if view.color else "hgfedcba"), fontsize=12)
    axes.set_yticks(middles, [str(i + 1 if view.color else 8 - i) for i in range(8)], fontsize=12)
    axes.tick_params(length=0)
    bar = figure.colorbar(ScalarMappable(Normalize(0, 1), shades), ax=axes, shrink=0.8, pad=0.02)
    bar.set_label(f"square not seen by {side}: probability that a {other} piece stands there", fontsize=11)
    bar.ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f} %")
    legend = [
        Patch(facecolor="white", edgecolor=_OWN, linewidth=2, label=f"{side}'s own piece"),
        Patch(facecolor=_SEEN[1], edgecolor="black", linewidth=0.6, label="seen"),
        Patch(facecolor=shades(0.5), edgecolor="black", linewidth=0.6, label="unseen: the two likeliest pieces, in %"),
    ]
    figure.legend(handles=legend, loc="outside lower center", ncols=3, frameon=False, fontsize=10)


def _square(axes: Any, analysis: Analysis, square: int, shades: Any) -> None:
    from matplotlib.patches import Rectangle

    from darkchess.fog.belief.belief_board import percent

    view, found = analysis.view, analysis.marginals
    turned = square if view.color else 63 - square
    x, y = chess.square_file(turned), chess.square_rank(turned)
    light = (chess.square_file(square) + chess.square_rank(square)) % 2
    seen = view.sees(square)
    face = _SEEN[light] if seen else shades(found.enemy(square))
    axes.add_patch(Rectangle((x, y), 1, 1, facecolor=face, edgecolor="#606060", linewidth=0.6))
    axes.text(x + 0.08, y + 0.08, chess.SQUARE_NAMES[square], fontsize=6, ha="left", va="bottom", color="#202020")
    if seen:
        piece = view.piece_at(square)
        if piece is not None:
            if piece.color == view.color:
                axes.add_patch(Rectangle((x + 0.05, y + 0.05), 0.9, 0.9, fill=False, edgecolor=_OWN, linewidth=1.6))
            _man(axes, x + 0.5, y + 0.5, piece, 34)
        return
    likely = [(symbol, share) for symbol, share in found.at(square).items() if share >= _SHOWN][:2]
    for place, (symbol, share) in enumerate(likely):
        height = y + (0.52 if len(likely) == 1 else 0.70 if place == 0 else 0.31)
        figure_size, text_size = (25, 10.5) if place == 0 else (16, 8.5)
        _man(axes, x + 0.29, height, chess.Piece.from_symbol(symbol), figure_size)
        axes.text(x + 0.95, height, percent(share), fontsize=text_size, ha="right", va="center", color="black")


def _man(axes: Any, x: float, y: float, piece: chess.Piece, size: float) -> None:
    """A chess figure, black or white with a black rim."""
    from matplotlib.patheffects import withStroke

    sign = chess.Piece(piece.piece_type, chess.BLACK).unicode_symbol()  # the filled figure
    color = "white" if piece.color else "black"
    rim = [withStroke(linewidth=size / 14, foreground="black")] if piece.color else []
    axes.text(x, y, sign, fontsize=size, ha="center", va="center", color=color, path_effects=rim)

"""A solution as HTML, for notebooks: its value, its gap, the tree of a small game, and a table of the infosets."""

from __future__ import annotations

from html import escape

import numpy as np

from klss.theory.game import Game, Named
from klss.theory.movers import CHANCE, TERMINAL

_INFOSETS, _NODES = 100, 100
"""Most infosets of the table, and most nodes of a tree that is drawn."""

_WIDE, _HIGH = 130, 18
"""Pixels from a node to its children, and from one end to the next."""

_COLOURS = {0: "#3465a4", 1: "#cc0000", CHANCE: "#888888"}


def page(title: str, game: Game, strategies: tuple[Named, Named]) -> str:
    """Return a fragment of HTML, without scripts."""
    parts = [f"<p>{escape(title)}</p>"]
    if game.node_count <= _NODES:
        parts.append(_tree(game, strategies))
    rows = [
        f"<tr><td>{player}</td><td><code>{escape(key)}</code></td>"
        f"<td>{', '.join(f'{escape(action)} {_number(p)}' for action, p in actions.items())}</td></tr>"
        for player in (0, 1)
        for key, actions in strategies[player].items()
    ]
    parts += ["<table><tr><th>player</th><th>infoset</th><th>strategy</th></tr>", *rows[:_INFOSETS], "</table>"]
    if len(rows) > _INFOSETS:
        parts.append(f"<p>and {len(rows) - _INFOSETS:,} more infosets: strategy(player)</p>")
    return "".join(parts)


def _number(number: object) -> str:
    return f"{number:.4g}" if isinstance(number, float) else str(number)


def _tree(game: Game, strategies: tuple[Named, Named]) -> str:
    """Draw the tree from left to right: who moves, the actions with their probabilities, and what the ends pay."""
    lines, marks, depth = [], [], [0] * game.node_count
    # Ends are below each other, in preorder; a node is between the first and the last end below it.
    first = np.searchsorted(game.terminals, np.arange(game.node_count))
    height = (_HIGH / 2) * (first + np.searchsorted(game.terminals, game.end) + 1)
    for node, mover in enumerate(game.player.tolist()):
        above = int(game.parent[node])
        depth[node] = depth[above] + 1 if node else 0
        x, y = 30 + _WIDE * depth[node], height[node]
        if node:
            left, top = x - _WIDE, height[above]
            lines.append(f'<line x1="{left}" y1="{top}" x2="{x}" y2="{y}" stroke="#bbb"/>')
            text = escape(_edge(game, strategies, node, above))
            marks.append(f'<text x="{(left + 2 * x) / 3}" y="{(top + 2 * y) / 3}">{text}</text>')
        if mover == TERMINAL:
            marks.append(f'<text x="{x + 4}" y="{y + 4}" font-weight="bold">{game.utility[node]:.6g}</text>')
            continue
        infoset = "" if mover == CHANCE else game.observations[mover].keys[int(game.infoset[mover, node])]
        title = "chance" if mover == CHANCE else escape(f"player {mover}: {infoset}")
        marks.append(f'<circle cx="{x}" cy="{y}" r="5" fill="{_COLOURS[mover]}"><title>{title}</title></circle>')
    size = f'width="{100 + _WIDE * max(depth)}" height="{_HIGH * (game.terminals.size + 1)}"'
    style = 'xmlns="http://www.w3.org/2000/svg" font-size="10" fill="currentColor"'
    return f"<svg {style} {size}>{''.join(lines + marks)}</svg>"


def _edge(game: Game, strategies: tuple[Named, Named], node: int, above: int) -> str:
    mover = int(game.player[above])
    if mover == CHANCE:
        return _number(float(game.probability[node]))
    observations, infoset = game.observations[mover], int(game.infoset[mover, above])
    action = observations.action_names[infoset][int(game.action[node])]
    return f"{action} {_number(strategies[mover][str(observations.keys[infoset])][action])}"

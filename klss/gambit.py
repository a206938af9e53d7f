"""Gambit's files: extensive games (``.efg``) and strategic ones (``.nfg``), read and written.

Source: Gambit's documentation, "Representation formats". Only two-player games can be read whose payoffs have the same
sum at all ends. Player 0 is the file's player 1; utilities and the value are that player's payoffs.

Deviations: a player that waits has no infoset there (``infoset`` is −1), since the format has no such observations;
so these games can be solved, but not divided into subgames. A payoff at an inner node is added to all ends below it.
Repeated declarations are compared by their numbers' values. Probabilities that are rounded are scaled to a sum of 1.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from klss.errors import MAX_NODES, GameError, TooLargeError
from klss.support.memory import check_memory
from klss.support.text import MAX_TEXT_BYTES, printable, read_text
from klss.support.whole_file import write_whole
from klss.theory.certificate import probabilities, simplest
from klss.theory.game import Game, GameBuilder
from klss.theory.movers import CHANCE, TERMINAL

_BYTES_A_BYTE = 40
"""Memory that a game takes while it is read, for each byte of its file."""

_SUM = 1e-6
"""Largest error of an end's sum of payoffs, as a share of its own payoffs (from 1 on)."""

T = TypeVar("T")

_TOKEN = re.compile(r'\s*(?:(?P<text>"(?:[^"\\]|\\.)*+")|(?P<brace>[{}])|(?P<comma>,)|(?P<word>[^\s{}",]+)|(?P<bad>.))')


@dataclass(frozen=True, eq=False)
class GambitFile:
    """A game of a file, its title, and the sum of both players' payoffs."""

    game: Game
    title: str
    constant: float


def read(path: str | Path, max_nodes: int = MAX_NODES, max_bytes: int | None = None) -> GambitFile:
    """Read the game of a ``.efg`` or ``.nfg`` file. Raises GameError, of one line with the place: it can't be read, is
    not of two players, not constant-sum, or breaks perfect recall; TooLargeError: more than ``max_nodes`` nodes, or
    ``max_bytes`` of this process.
    """
    path = Path(path)
    if path.exists() and not path.is_file():  # a pipe or a device might never end
        raise GameError(f"{path}: got no file, expected one of Gambit")
    try:
        check_memory(f"{path}: reading it", min(path.stat().st_size, MAX_TEXT_BYTES) * _BYTES_A_BYTE, max_bytes)
        content = read_text(path, errors="replace")
    except OSError as error:
        raise GameError(f"{path}: {error.strerror}; expected a file of Gambit") from None
    return parse(content, str(path), max_nodes)


def parse(content: str, name: str, max_nodes: int = MAX_NODES) -> GambitFile:
    """As :func:`read`, from the text of a file; messages call it ``name``."""
    try:
        return _Reader(content, name, max_nodes).read()
    except GameError as error:
        text = str(error)
        raise GameError(text if text.startswith(name) else f"{name}: {text}") from None


class _Reader:
    """One pass over a file's tokens."""

    def __init__(self, content: str, path: str, max_nodes: int) -> None:
        self._content, self._path, self._max_nodes = content, path, max_nodes
        self._tokens = self._split()
        self._at = 0
        self._held: list[tuple[str, str]] = []
        self._tree = GameBuilder()
        self._payoffs: list[tuple[float, float]] = []  # of each node, summed on the way, its own included
        self._called: tuple[dict[str, str], dict[str, str]] = ({}, {})  # infosets' names, by the file's numbers
        self._declared: dict[tuple[str, str], tuple[str, list[object]]] = {}  # by kind and number: name, contents

    # ---- tokens

    def _split(self) -> Iterator[tuple[str, str]]:
        # Up to the last token: the white space after it would be tried from each of its characters.
        for found in _TOKEN.finditer(self._content, 0, len(self._content.rstrip())):
            self._at = found.start(found.lastgroup or 0)
            kind = str(found.lastgroup)
            if kind == "bad":
                self._fail(f"got {found['bad']!r}, expected a name in quotes that end, a number or a brace")
            if kind != "comma":
                yield kind, found[kind][1:-1].replace('\\"', '"') if kind == "text" else found[kind]

    def _fail(self, why: str) -> None:
        line = self._content.count("\n", 0, self._at) + 1
        column = self._at - self._content.rfind("\n", 0, self._at)
        raise GameError(f"{self._path}: line {line}, column {column}: {why}")

    def _peek(self) -> tuple[str, str]:
        if not self._held:
            self._held.append(next(self._tokens, ("end", "the end of the file")))
        return self._held[0]

    def _take(self, kind: str, value: str | None = None) -> str:
        got = self._peek()
        if got[0] != kind or (value is not None and got[1] != value):
            what = value or {"text": "a name in quotes", "word": "a number or a letter"}.get(kind, kind)
            self._fail(f"got {printable(got[1], 40)!r}, expected {what}")
        self._held.clear()
        return got[1]

    def _is(self, kind: str, value: str | None = None) -> bool:
        got = self._peek()
        return got[0] == kind and (value is None or got[1] == value)

    def _number(self) -> float:
        word = self._take("word")
        above, _, below = word.partition("/")
        try:  # a Fraction would write out all the digits of 1e99999999
            number = float(above) / float(below or "1")
        except (ValueError, ZeroDivisionError):
            number = math.nan
        if not math.isfinite(number) or "_" in word:
            self._fail(f"got {printable(word, 40)!r}, expected a number")
        return number

    def _braced(self, item: Callable[[], T]) -> list[T]:
        """Return the items between two braces."""
        self._take("brace", "{")
        found = []
        while not self._is("brace", "}"):
            found.append(item())
        self._take("brace", "}")
        return found

    # ---- files

    def read(self) -> GambitFile:
        first = " ".join(self._take("word") for _ in range(3))
        if first not in ("EFG 2 R", "EFG 2 D", "NFG 1 R", "NFG 1 D"):
            self._fail(f"got {printable(first, 40)!r}, expected EFG 2 R or NFG 1 R")
        title = self._take("text")
        players = self._braced(lambda: self._take("text"))
        if len(players) != 2:
            self._fail(f"got {len(players)} players, expected 2")
        if first.startswith("EFG"):
            if self._is("text"):
                self._take("text")
            self._extensive()
        else:
            self._strategic()
        if not self._is("end"):
            self._fail(f"got {printable(self._peek()[1], 40)!r}, expected the end of the file")
        return self._made(title)

    def _add(
        self, parent: int | None, edge: tuple[str, float], mover: int, paid: tuple[float, float], infoset: str = ""
    ) -> int:
        """Add a node below the edge with that name and probability; return it."""
        above = (0.0, 0.0) if parent is None else self._payoffs[parent]
        total = above[0] + paid[0], above[1] + paid[1]
        self._payoffs.append(total)
        name, chance = edge
        if mover == CHANCE:
            return self._tree.add_chance(parent, name, probability=chance)
        if mover == TERMINAL:
            return self._tree.add_terminal(parent, name, utility=total[0], probability=chance)
        seen = (infoset, None) if mover == 0 else (None, infoset)
        return self._tree.add_decision(parent, name, player=mover, observations=seen, probability=chance)

    def _check_nodes(self, count: int) -> None:
        if count > self._max_nodes:
            raise TooLargeError(f"{self._path}: more than {self._max_nodes:,} nodes; expected fewer", "max_nodes")

    def _extensive(self) -> None:
        """Read nodes in preorder; ``open_`` has those whose children are not complete, and their edges that are left,
        the next one last.
        """
        open_: list[tuple[int, list[tuple[str, float]]]] = []
        announced = 1  # nodes, by the edges read: a node may have many by the number of its infoset alone
        while True:
            # The next line's parent and edge: the next edge of the last node whose children are not complete.
            parent, edge = None, ("", 1.0)
            if open_:
                parent, left = open_[-1]
                edge = left.pop()
                if not left:
                    open_.pop()
            node, edges = self._node(parent, edge)
            announced += len(edges)
            self._check_nodes(announced)
            if edges:
                open_.append((node, edges[::-1]))
            if not open_:
                return

    def _node(self, parent: int | None, edge: tuple[str, float]) -> tuple[int, list[tuple[str, float]]]:
        """Read the line of one node; return it and its edges, none at an end."""
        kind = self._take("word")
        self._take("text")
        if kind == "t":
            return self._add(parent, edge, TERMINAL, self._outcome()), []
        if kind == "c":
            edges = self._chance_edges()
            return self._add(parent, edge, CHANCE, self._outcome()), edges
        if kind != "p":
            self._fail(f"got {printable(kind, 20)!r}, expected c, p or t")
        who = self._take("word")
        if who not in ("1", "2"):
            self._fail(f"got player {printable(who, 20)!r}, expected 1 or 2")
        number = self._take("word")
        name, actions = self._declaration(f"player {who}'s infoset", number, lambda: self._take("text"))
        if not actions:
            self._fail(f"got no actions of infoset {printable(number, 20)} of player {who}, expected them")
        player = int(who) - 1
        self._called[player][number] = name
        node = self._add(parent, edge, player, self._outcome(), number)
        return node, [(action, 1.0) for action in _distinct(actions)]

    def _declaration(self, kind: str, number: str, item: Callable[[], T]) -> tuple[str, list[T]]:
        """Return the name and the items in braces of an infoset or an outcome: those here, or those of its number.

        The first node gives them; later ones leave both out, or repeat both without a change.
        """
        known = self._declared.get((kind, number))
        if self._is("text"):
            here: tuple[str, list[T]] = self._take("text"), self._braced(item)
            if known is not None and known != here:
                self._fail(
                    f"{kind} {printable(number, 20)}: got a declaration that differs from the first, expected the same"
                )
            self._declared[kind, number] = known = here  # type: ignore[assignment]
        elif known is None:
            self._fail(f"got no declaration of {kind} {printable(number, 20)}, expected a name and a list in braces")
        return known  # type: ignore[return-value]

    def _chance_edges(self) -> list[tuple[str, float]]:
        number = self._take("word")
        _, edges = self._declaration("chance infoset", number, lambda: (self._take("text"), self._number()))
        total = sum(probability for _, probability in edges)
        if not edges or abs(total - 1.0) > 1e-4 or min(probability for _, probability in edges) < 0.0:
            self._fail(f"chance sums to one: got probabilities that sum to {total:.6g}")
        # Numbers in files are rounded: three times 0.333 means three thirds.
        return [(str(k + 1), probability / total) for k, (_, probability) in enumerate(edges)]

    def _outcome(self) -> tuple[float, float]:
        number = self._take("word")
        if number == "0" and not self._is("text"):
            return 0.0, 0.0
        _, paid = self._declaration("outcome", number, self._number)
        if len(paid) != 2:
            self._fail(f"got {len(paid)} payoffs, expected 2")
        return paid[0], paid[1]

    def _strategic(self) -> None:
        """Read a table as a tree: player 1's choice, then player 2's, which does not see the first."""
        named = self._braced(self._strategies)
        sizes = [len(names) if isinstance(names, list) else names for names in named]
        if len(sizes) != 2 or not all(sizes):
            self._fail(f"got strategies of {len(sizes)} players, expected 2 with one strategy each at the least")
        rows, columns = sizes
        self._check_nodes(rows * columns + rows + 1)
        if self._is("text"):
            self._take("text")
        table = self._table(rows * columns)
        # One infoset for each player; strategies without names are numbers.
        mine, yours = (_distinct(names if isinstance(names, list) else [""] * names) for names in named)
        self._called[0]["1"] = self._called[1]["1"] = ""
        root = self._add(None, ("", 1.0), 0, (0.0, 0.0), "1")
        for row, name in enumerate(mine):
            node = self._add(root, (name, 1.0), 1, (0.0, 0.0), "1")
            for column, other in enumerate(yours):
                self._add(node, (other, 1.0), TERMINAL, table[row + rows * column])

    def _strategies(self) -> list[str] | int:
        """Read one player's strategies: their names, or their number, which takes no memory however large it is."""
        if self._is("brace", "{"):
            return self._braced(lambda: self._take("text"))
        size = self._take("word")
        if not size.isascii() or not size.isdigit() or len(size) > 6:
            self._fail(f"got {printable(size, 20)!r}, expected a number of strategies")
        return int(size)

    def _table(self, cells: int) -> list[tuple[float, float]]:
        """Read the payoffs of all pairs; player 1's strategy changes fastest."""
        if not self._is("brace", "{"):
            return [(self._number(), self._number()) for _ in range(cells)]
        # Outcomes by number: { { "name" 1, -1 } … } 1 2 1 …; number 0 means no payoff.
        outcomes = [(0.0, 0.0), *self._braced(self._paid)]
        table = []
        for _ in range(cells):
            number = self._number()
            if number != int(number) or not 0 <= number < len(outcomes):
                self._fail(f"got outcome {number:g}, expected 0 to {len(outcomes) - 1}")
            table.append(outcomes[int(number)])
        return table

    def _paid(self) -> tuple[float, float]:
        """Read both players' payoffs of an outcome in braces."""
        self._take("brace", "{")
        if self._is("text"):
            self._take("text")
        paid = self._number(), self._number()
        self._take("brace", "}")
        return paid

    # ---- the game

    def _made(self, title: str) -> GambitFile:
        # Zero-sum up to a constant: the same sum of payoffs at all ends.
        game = self._tree.build()
        payoffs = np.array(self._payoffs)[game.terminals]
        with np.errstate(over="ignore"):
            sums = payoffs.sum(axis=1)
        if not np.isfinite(sums).all():
            raise GameError("payoffs: got sums that are not finite, expected smaller numbers")
        # The sum of the end with the smallest payoffs has the least rounding.
        size = np.abs(payoffs).max(axis=1)
        constant = float(sums[size.argmin()])
        if (np.abs(sums - constant) > _SUM * np.maximum(1.0, size)).any():
            raise GameError(
                f"constant-sum: got ends whose payoffs sum to {sums.min():g} and to {sums.max():g}, expected one sum"
            )
        mine, yours = (
            replace(tree, keys=tuple(_distinct([called[str(key)] for key in tree.keys], list(map(str, tree.keys)))))
            for tree, called in zip(game.observations, self._called, strict=True)
        )
        return GambitFile(replace(game, observations=(mine, yours)), title, constant)


def strategy_of(behaviour: Any) -> dict[str, list[float]]:
    """Return what a ``pygambit.MixedBehavior`` plays, in the order of the actions, by infosets' names as read here."""
    mixed = list(behaviour.mixed_actions())
    names = _distinct([str(infoset.label) for infoset, _ in mixed])
    return {name: [float(p) for _, p in row] for name, (_, row) in zip(names, mixed, strict=True)}


def _distinct(names: Sequence[str], numbers: Sequence[str] | None = None) -> Sequence[str]:
    """Return the names if they are all different and not empty, otherwise ``numbers``; None: from 1 on."""
    if all(names) and len(set(names)) == len(names):
        return names
    return [str(k + 1) for k in range(len(names))] if numbers is None else numbers


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '\\"') + '"'


def _labels(names: Iterable[object]) -> list[str]:
    """Return names as Gambit takes them: not empty, different, on one line with single spaces, without backslashes."""
    labels: dict[str, int] = {}
    for name in names:
        label = wanted = printable(str(name)).replace("\\", "/") or "_"
        while label in labels:
            labels[wanted] += 1
            label = f"{wanted} {labels[wanted]}"
        labels[label] = 1
    return list(labels)


def write_efg(path: str | Path, game: Game, title: str, constant: float = 0.0) -> None:
    """Write ``game`` as ``.efg``: the file's player 1 gets the utilities, player 2 gets ``constant`` minus them.

    Numbers are written as the fractions for which the game's stand (:func:`klss.theory.certificate.simplest`). Raises
    OSError.
    """
    lines = [f'EFG 2 R {_quoted(*_labels([title]))} {{ "Player 1" "Player 2" }}', '""']
    chances = outcomes = 0
    children: dict[int, list[int]] = {}
    for node, above in enumerate(game.parent.tolist()):
        children.setdefault(above, []).append(node)
    edge = probabilities(game)
    total = simplest(constant)
    # The file's numbers of infosets, in the order of their first nodes.
    met: tuple[dict[int, int], dict[int, int]] = ({}, {})
    keys = [_labels(observations.keys) for observations in game.observations]
    for node, who in enumerate(game.player.tolist()):
        if who == TERMINAL:
            outcomes += 1
            utility = simplest(float(game.utility[node]))
            lines.append(f't "" {outcomes} "" {{ {utility} {total - utility} }}')
        elif who == CHANCE:
            chances += 1
            edges = " ".join(f'"{k + 1}" {edge[child]}' for k, child in enumerate(children[node]))
            lines.append(f'c "" {chances} "" {{ {edges} }} 0')
        else:
            j = int(game.infoset[who, node])
            number = met[who].setdefault(j, len(met[who]) + 1)
            actions = " ".join(map(_quoted, _labels(game.observations[who].action_names[j])))
            lines.append(f'p "" {who + 1} {number} {_quoted(keys[who][j])} {{ {actions} }} 0')
    write_whole(Path(path), "\n".join(lines) + "\n")

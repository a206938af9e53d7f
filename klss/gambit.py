"""Gambit's files: extensive games (``.efg``) and strategic ones (``.nfg``), read and written.

Source: Gambit's documentation, "Representation formats". Only two-player games can be read whose payoffs have the same
sum at all ends. Player 0 is the file's player 1; utilities and the value are that player's payoffs.

Deviations: a player that waits has no infoset there (``infoset`` is −1), since the format has no such observations;
so these games can be solved, but not divided into subgames. A payoff at an inner node is added to all ends below it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TypeVar

import numpy as np

from klss.errors import GameError, TooLargeError
from klss.game import Game, assemble
from klss.movers import CHANCE, TERMINAL
from klss.support.text import printable
from klss.support.whole_file import write_whole

__all__ = ["GambitFile", "equilibrium_line", "read", "write_efg"]

_MOST_BYTES = 64_000_000
"""Largest file, in bytes. A node takes about 40 bytes or more."""

_SUM = 1e-6
"""Largest difference of two equal sums of payoffs, as a share of the largest payoff."""

T = TypeVar("T")

Strategy = Mapping[str, Mapping[str, float | Fraction]]
"""One player's strategy: infoset's name -> action's name -> probability."""

_TOKEN = re.compile(r'\s*(?:(?P<text>"(?:[^"\\]|\\.)*")|(?P<brace>[{}])|(?P<comma>,)|(?P<word>[^\s{}",]+)|(?P<bad>\S))')


@dataclass(frozen=True, eq=False)
class GambitFile:
    """A game of a file, its title, and the sum of both players' payoffs."""

    game: Game
    title: str
    constant: float


def read(path: Path, max_nodes: int = 5_000_000) -> GambitFile:
    """Read the game of a ``.efg`` or ``.nfg`` file.

    Raises
    ------
    GameError
        It can't be read, is not of two players, not constant-sum, or breaks perfect recall; one line with the place.
    TooLargeError
        More than ``max_nodes`` nodes.
    """
    if path.exists() and not path.is_file():  # reading from a pipe might wait forever
        raise GameError(f"{path}: got no file, expected one of Gambit")
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise GameError(f"{path}: {error.strerror}; expected a file of Gambit") from None
    if len(content) > _MOST_BYTES:
        raise GameError(f"{path}: got more than {_MOST_BYTES // 1_000_000} MB, expected a smaller file")
    reader = _Reader(content.decode("utf-8", errors="replace"), str(path), max_nodes)
    try:
        return reader.read()
    except GameError as error:
        text = str(error)
        raise GameError(text if text.startswith(str(path)) else f"{path}: {text}") from None


@dataclass(slots=True)
class _Tree:
    """Nodes in preorder, as lists."""

    parent: list[int] = field(default_factory=list)
    player: list[int] = field(default_factory=list)
    action: list[int] = field(default_factory=list)
    probability: list[float] = field(default_factory=list)
    payoffs: list[tuple[float, float]] = field(default_factory=list)  # summed on the way, the node's included
    infoset: tuple[list[int], list[int]] = field(default_factory=lambda: ([], []))

    def add(self, parent: int, action: int, probability: float, player: int, paid: tuple[float, float]) -> int:
        above = self.payoffs[parent] if parent >= 0 else (0.0, 0.0)
        self.parent.append(parent)
        self.action.append(action)
        self.probability.append(probability)
        self.player.append(player)
        self.payoffs.append((above[0] + paid[0], above[1] + paid[1]))
        for each in self.infoset:
            each.append(-1)
        return len(self.parent) - 1


class _Reader:
    """One pass over a file's tokens."""

    def __init__(self, content: str, path: str, max_nodes: int) -> None:
        self._content, self._path, self._max_nodes = content, path, max_nodes
        self._tokens = self._split()
        self._at = 0
        self._held: list[tuple[str, str]] = []
        self._tree = _Tree()
        self._keys: tuple[list[str], list[str]] = ([], [])
        self._names: tuple[list[tuple[str, ...]], list[tuple[str, ...]]] = ([], [])
        self._sets: dict[tuple[int, str], int] = {}  # of (player, the file's number)
        self._chances: dict[str, list[tuple[str, float]]] = {}
        self._outcomes: dict[str, tuple[float, float]] = {"0": (0.0, 0.0)}

    # ---- tokens

    def _split(self) -> Iterator[tuple[str, str]]:
        for found in _TOKEN.finditer(self._content):
            self._at = found.start(found.lastgroup or 0)
            kind = str(found.lastgroup)
            if kind == "bad":
                self._fail(f"got {found['bad']!r}, expected a name in quotes that end, a number or a brace")
            if kind != "comma":
                value = found[kind]
                yield kind, re.sub(r"\\(.)", r"\1", value[1:-1]) if kind == "text" else value

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

    def _skip_name(self) -> None:
        """Skip a name of a node, an outcome or a game, which is not used."""
        if self._is("text"):
            self._take("text")

    def _number(self) -> float:
        word = self._take("word")
        above, _, below = word.partition("/")
        try:  # a Fraction would write out all the digits of 1e99999999
            number = float(above) / float(below or "1")
        except (ValueError, ZeroDivisionError):
            number = math.nan
        if not math.isfinite(number):
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

    def _texts(self) -> list[str]:
        return self._braced(lambda: self._take("text"))

    # ---- files

    def read(self) -> GambitFile:
        kind = self._take("word")
        if kind not in ("EFG", "NFG"):
            self._fail(f"got {printable(kind, 40)!r}, expected EFG or NFG")
        version = self._take("word")
        if version != ("2" if kind == "EFG" else "1"):
            self._fail(f"got version {printable(version, 20)!r}, expected {'2' if kind == 'EFG' else '1'}")
        if self._take("word") not in ("R", "D"):
            self._fail("expected R or D after the version")
        title = self._take("text")
        players = self._texts()
        if len(players) != 2:
            self._fail(f"got {len(players)} players, expected 2")
        if kind == "EFG":
            self._skip_name()
            self._extensive()
        else:
            self._strategic()
        if not self._is("end"):
            self._fail(f"got {printable(self._peek()[1], 40)!r}, expected the end of the file")
        return self._made(title)

    def _extensive(self) -> None:
        """Read nodes in preorder; ``open_`` has those whose children are not complete."""
        open_: list[tuple[int, list[float], int]] = []  # node, its edges' probabilities, number of edges done
        while True:
            # The next line's parent and edge: the next edge of the last node whose children are not complete.
            parent, edge, chance = -1, -1, 1.0
            if open_:
                parent, probabilities, done = open_.pop()
                edge, chance = done, probabilities[done]
                if done + 1 < len(probabilities):
                    open_.append((parent, probabilities, done + 1))
            if len(self._tree.parent) >= self._max_nodes:
                raise TooLargeError(f"{self._path}: more than {self._max_nodes:,} nodes; expected fewer", "max_nodes")
            probabilities = self._node(parent, edge, chance)
            if probabilities:
                open_.append((len(self._tree.parent) - 1, probabilities, 0))
            if not open_:
                return

    def _node(self, parent: int, edge: int, chance: float) -> list[float]:
        """Read the line of one node; return its edges' probabilities, none at an end."""
        kind = self._take("word")
        self._take("text")
        if kind == "t":
            self._tree.add(parent, edge, chance, TERMINAL, self._outcome())
            return []
        if kind == "c":
            edges = self._chance_edges()
            self._tree.add(parent, edge, chance, CHANCE, self._outcome())
            return [probability for _, probability in edges]
        if kind != "p":
            self._fail(f"got {printable(kind, 20)!r}, expected c, p or t")
        who = self._take("word")
        if who not in ("1", "2"):
            self._fail(f"got player {printable(who, 20)!r}, expected 1 or 2")
        player = int(who) - 1
        infoset = self._infoset(player)
        node = self._tree.add(parent, edge, chance, player, self._outcome())
        self._tree.infoset[player][node] = infoset
        return [1.0] * len(self._names[player][infoset])

    def _infoset(self, player: int) -> int:
        number = self._take("word")
        name = self._take("text") if self._is("text") else ""
        actions = tuple(self._texts()) if self._is("brace", "{") else ()
        # The file gives an infoset's actions at its first node; later nodes may leave them out.
        j = self._sets.get((player, number), -1)
        if j < 0:
            if not actions:
                self._fail(f"got no actions of infoset {printable(number, 20)} of player {player + 1}, expected them")
            j = self._sets[player, number] = len(self._keys[player])
            self._keys[player].append(name)
            self._names[player].append(_distinct(actions))
        elif actions and len(actions) != len(self._names[player][j]):
            self._fail(
                f"one infoset, one action set: infoset {printable(number, 20)} of player {player + 1} had "
                f"{len(self._names[player][j])} actions, here {len(actions)}"
            )
        return j

    def _chance_edges(self) -> list[tuple[str, float]]:
        number = self._take("word")
        self._skip_name()
        if self._is("brace", "{"):
            edges = self._braced(lambda: (self._take("text"), self._number()))
            total = sum(probability for _, probability in edges)
            if not edges or abs(total - 1.0) > 1e-4 or min(probability for _, probability in edges) < 0.0:
                self._fail(f"chance sums to one: got probabilities that sum to {total:.6g}")
            # Numbers in files are rounded: three times 0.333 means three thirds.
            self._chances[number] = [(name, probability / total) for name, probability in edges]
        elif number not in self._chances:
            self._fail(f"got no actions of chance infoset {printable(number, 20)}, expected them")
        return self._chances[number]

    def _outcome(self) -> tuple[float, float]:
        number = self._take("word")
        self._skip_name()
        if self._is("brace", "{"):
            paid = self._braced(self._number)
            if len(paid) != 2:
                self._fail(f"got {len(paid)} payoffs, expected 2")
            self._outcomes[number] = (paid[0], paid[1])
        elif number not in self._outcomes:
            self._fail(f"got no payoffs of outcome {printable(number, 20)}, expected them")
        return self._outcomes[number]

    def _strategic(self) -> None:
        """Read a table as a tree: player 1's choice, then player 2's, which does not see the first."""
        named = self._braced(self._strategies)
        if len(named) != 2 or not all(named):
            self._fail(f"got strategies of {len(named)} players, expected 2 with one strategy each at the least")
        rows, columns = (len(names) for names in named)
        if rows * columns + rows + 1 > self._max_nodes:
            raise TooLargeError(f"{self._path}: more than {self._max_nodes:,} nodes; expected fewer", "max_nodes")
        self._skip_name()
        table = self._table(rows * columns)
        # One infoset for each player.
        for player in (0, 1):
            self._keys[player].append("")
            self._names[player].append(_distinct(named[player]))
        tree = self._tree
        root = tree.add(-1, -1, 1.0, 0, (0.0, 0.0))
        tree.infoset[0][root] = 0
        for row in range(rows):
            node = tree.add(root, row, 1.0, 1, (0.0, 0.0))
            tree.infoset[1][node] = 0
            for column in range(columns):
                tree.add(node, column, 1.0, TERMINAL, table[row + rows * column])

    def _strategies(self) -> tuple[str, ...]:
        """Read one player's strategies: their names, or their number."""
        if self._is("brace", "{"):
            return tuple(self._texts())
        size = self._take("word")
        if not size.isascii() or not size.isdigit() or not 0 < len(size) < 8:
            self._fail(f"got {printable(size, 20)!r}, expected a number of strategies")
        return tuple(str(k + 1) for k in range(min(int(size), self._max_nodes + 1)))

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
        self._skip_name()
        paid = self._number(), self._number()
        self._take("brace", "}")
        return paid

    # ---- the game

    def _made(self, title: str) -> GambitFile:
        # Zero-sum up to a constant: the same sum of payoffs at all ends.
        tree = self._tree
        player = np.array(tree.player, np.int64)
        payoffs = np.array(tree.payoffs)
        ends = player == TERMINAL
        sums = payoffs[ends].sum(axis=1)
        if not np.isfinite(sums).all():
            raise GameError("payoffs: got sums that are not finite, expected smaller numbers")
        if np.ptp(sums) > _SUM * max(1.0, np.abs(payoffs).max()):
            raise GameError(
                f"constant-sum: got ends whose payoffs sum to {sums.min():g} and to {sums.max():g}, expected one sum"
            )
        game = assemble(
            parent=np.array(tree.parent, np.int64),
            player=player,
            action=np.array(tree.action, np.int64),
            probability=np.array(tree.probability),
            utility=np.where(ends, payoffs[:, 0], 0.0),
            infoset=np.array(tree.infoset, np.int64).reshape(2, -1),
            turns=([True] * len(self._keys[0]), [True] * len(self._keys[1])),
            keys=(self._unique(0), self._unique(1)),
            action_names=self._names,
        )
        return GambitFile(game, title, float(sums.mean()))

    def _unique(self, player: int) -> list[str]:
        """Return the infosets' names if they are all different and not empty, otherwise the file's numbers."""
        names = self._keys[player]
        if all(names) and len(set(names)) == len(names):
            return names
        return [number for who, number in self._sets if who == player] or ["1"] * len(names)


def _distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names if they are all different and not empty, otherwise numbers from 1 on."""
    return names if all(names) and len(set(names)) == len(names) else tuple(str(k + 1) for k in range(len(names)))


def _quoted(text: object) -> str:
    return '"' + str(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") + '"'


def write_efg(path: Path, game: Game, title: str, constant: float = 0.0) -> None:
    """Write ``game`` as ``.efg``: the file's player 1 gets the utilities, player 2 gets ``constant`` minus them. Raises
    OSError.
    """
    lines = [f'EFG 2 R {_quoted(title)} {{ "Player 1" "Player 2" }}', '""']
    chances = outcomes = 0
    children: dict[int, list[int]] = {}
    for node, above in enumerate(game.parent.tolist()):
        children.setdefault(above, []).append(node)
    # The file's numbers of infosets, in the order of their first nodes.
    met: tuple[dict[int, int], dict[int, int]] = ({}, {})
    for node, who in enumerate(game.player.tolist()):
        if who == TERMINAL:
            outcomes += 1
            utility = float(game.utility[node])
            lines.append(f't "" {outcomes} "" {{ {utility!r}, {constant - utility!r} }}')
        elif who == CHANCE:
            chances += 1
            edges = " ".join(f'"{k + 1}" {float(game.probability[c])!r}' for k, c in enumerate(children[node]))
            lines.append(f'c "" {chances} "" {{ {edges} }} 0')
        else:
            j = int(game.infoset[who, node])
            number = met[who].setdefault(j, len(met[who]) + 1)
            observations = game.observations[who]
            actions = " ".join(_quoted(name) for name in observations.action_names[j])
            lines.append(f'p "" {who + 1} {number} {_quoted(observations.keys[j])} {{ {actions} }} 0')
    write_whole(path, "\n".join(lines) + "\n")


def equilibrium_line(players: tuple[Strategy, Strategy]) -> str:
    """Return both players' strategies as Gambit prints equilibria: ``NE,p,p,…`` by player, infoset and action."""
    return ",".join(["NE", *(str(p) for player in players for actions in player.values() for p in actions.values())])

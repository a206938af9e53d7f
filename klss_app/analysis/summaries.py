"""The record of a turn; and a whole game's analysis in a few figures: the cost of each side's moves, its luck, and the
costliest moves.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NotRequired, TypeAlias, TypedDict

from klss.support.text import counted

Belief: TypeAlias = dict[str, dict[str, float]]
"""Square -> the enemy's pieces that may stand there, by FEN's letters, and the probability of each."""

Possible: TypeAlias = tuple[int, bool]
"""The number of positions in a side's set, and whether they are a sample."""


class Choice(TypedDict):
    """An answer in the game's words (SAN in chess), in UCI where it is a move of chess, and its probability in the
    mixed strategy; None: not known."""

    san: str
    move: str | None
    p: float | None


class Move(Choice):
    """An answer of the mixed strategy, and its value."""

    value: float | None


class Step(TypedDict):
    """A move of a line, and the first field of FEN after it; a line is played in one possible position."""

    san: str
    move: str
    board: str


class Because(TypedDict):
    """Why a move costs something; without a line, only ``text`` says something."""

    text: str
    line: list[Step]  # the move, the reply, and what may follow
    takes: str | None  # the piece that the reply captures, by FEN's letter in lower case
    count: int  # positions in which the reply can be played, and punishes the move
    of: int  # positions that were looked at


class PlayedMove(Choice):
    """The answer that was played."""

    loss: float | None  # its cost over the player's position set; None: it is not known
    mark: str
    turned: float | None  # its luck
    look_loss: NotRequired[float | None]  # the cost of the look before it, in blind chess


class Look(TypedDict):
    """A look in blind chess."""

    played: str | None  # None: nowhere
    best: str


class Turn(TypedDict):
    """The record of a turn (docs/analyse.md). A game has what it can: no cost without values, no size without sets."""

    ply: int
    color: str
    positions: dict[str, Possible | None]  # by side: how many positions were possible
    beliefs: dict[str, Belief]  # by side, about squares that it does not see
    value: float | None  # for the mover
    truth: float | None  # the value of the true position for White
    moves: list[Move]  # of the mixed strategy
    tries: dict[str, list[str | float | None]]  # words and cost of every open answer
    lines: list[list[str]]  # what the engine expects
    steps: NotRequired[list[list[Step]]]  # the same, with boards
    played: PlayedMove
    best: Choice
    because: Because | None  # None: the move costs little
    # in blind chess: the number of positions after the look, the gain of each look by its square, the look
    after_look: NotRequired[int]
    looks: NotRequired[dict[str, float]]
    look: NotRequired[Look]


Turns: TypeAlias = list[Turn]

Report: TypeAlias = dict[str, Any]  # the fields have types of their own
"""Figures over turns, as docs/analyse.md has them."""


NODES = 2000
"""Nodes per turn in the analysis of a whole game."""

CAP = 1_000_000
"""Most positions in either side's set during the analysis; beyond that it is a sample."""

MARKS = {"??": 0.24, "?": 0.12, "?!": 0.06}
"""Least cost of a move with each mark. Differences below .03 are noise in so short a search; the mildest mark begins at
twice that, and each next one at double the cost.
"""


EXPLAINED = 0.1
"""Least cost that is explained."""


def because(loss: float | None, found: Because | None = None) -> Because | None:
    """Why a move of that cost costs it, if it is enough for that: as ``found``, or that the engine has no line."""
    none = "The engine has a value for it, and no line."
    unsaid: Because = {"text": none, "line": [], "takes": None, "count": 0, "of": 0}
    return None if loss is None or loss < EXPLAINED else found or unsaid


_COSTLIEST = 5
LEAST_COST = 0.005
"""Least cost of a move that is listed among the costliest."""


def mark(cost: float | None) -> str:
    """The mark of a move of that cost; empty below the least mark.

    >>> mark(0.3), mark(0.07), mark(0.05)
    ('??', '?!', '')
    """
    return next((sign for sign, least in MARKS.items() if cost is not None and cost >= least), "")


MOST_MOVES = 8
"""Moves of a mixture that a record has."""

LEAST_SHOWN = 0.001
"""Least probability that a record has."""


def likely(pieces: Mapping[str, float]) -> dict[str, float]:
    """Return the probabilities of pieces on a square, rounded, without those that are nearly impossible."""
    return {letter: round(p, 4) for letter, p in pieces.items() if p >= LEAST_SHOWN}


def rounded(value: float | None) -> float | None:
    """Return a value as a record has it."""
    return None if value is None else round(value, 4)


@dataclass
class Sums:
    """Sums over the costs of moves; in blind chess of looks too, while no luck is known."""

    moves: int = 0
    valued: int = 0
    cost: float = 0.0
    points: float = 0.0
    judged: int = 0
    luck: float = 0.0
    looked: int = 0
    look_cost: float = 0.0
    marks: Counter[str] = field(default_factory=Counter)

    def add(self, played: PlayedMove) -> None:
        """Count a move."""
        self.moves += 1
        if played["turned"] is not None:
            self.judged += 1
            self.luck += played["turned"]
        if played["loss"] is not None:
            self.valued += 1
            self.cost += max(0.0, played["loss"])
            self.marks[played["mark"]] += 1
            self.points += 100.0 * math.exp(-2.0 * max(0.0, played["loss"]))
        look_loss = played.get("look_loss")
        if look_loss is not None:
            self.looked += 1
            self.look_cost += look_loss

    def document(self) -> Report:
        """The fields of a summary in docs/analyse.md but the costliest moves."""
        return {
            "moves": self.moves,
            "mean_cost": round(self.cost / self.valued, 4) if self.valued else None,
            "mean_luck": round(self.luck / self.judged, 4) if self.judged else None,
            "marks": {sign: self.marks[sign] for sign in MARKS},
            "accuracy": round(self.points / self.valued, 1) if self.valued else None,
            **({"mean_look_cost": round(self.look_cost / self.looked, 4)} if self.looked else {}),
        }


def summary(turns: Sequence[Turn], color: str) -> Report:
    """The costs of ``color`` in ``turns``, records of :mod:`klss_app.analysis`: ``summary`` in docs/analyse.md.

    >>> played = {"san": "e4", "p": 0.5, "loss": 0.25, "mark": "??", "turned": -0.5}
    >>> turn = {"ply": 0, "color": "white", "positions": {"white": [1, False]}, "played": played, "best": {}}
    >>> found = summary([turn | {"because": None}], "white")
    >>> found["mean_cost"], found["mean_luck"], found["marks"], [each["san"] for each in found["costliest"]]
    (0.25, -0.5, {'??': 1, '?': 0, '?!': 0}, ['e4'])
    >>> found["accuracy"]  # 100·e^(-2·0.25)
    60.7
    """
    own, sums = [turn for turn in turns if turn["color"] == color], Sums()
    for turn in own:
        sums.add(turn["played"])
    worst = sorted((turn for turn in own if cost_of(turn) >= LEAST_COST), key=lambda turn: -cost_of(turn))
    return {**sums.document(), "costliest": [costly(turn) for turn in worst[:_COSTLIEST]]}


def cost_of(turn: Turn) -> float:
    """The cost of a turn's move; 0 if it is not known."""
    return turn["played"]["loss"] or 0.0


def costly(turn: Turn) -> Report:
    """The move of a turn in a list of costly ones."""
    played, known = turn["played"], turn["positions"][turn["color"]]
    return {
        "ply": turn["ply"],
        "san": played["san"],
        "cost": played["loss"],
        "positions": turn.get("after_look", None if known is None else known[0]),
        "best": turn["best"],
        "probability": played["p"],
        "turned": played["turned"],
        "because": None if turn["because"] is None else turn["because"]["text"],
    }


def turn_text(turn: Turn) -> list[str]:
    """The record of one turn for people."""
    known, played, lines = turn["positions"][turn["color"]], turn["played"], list[str]()
    possible = "" if known is None else f": {counted(known[0], 'position')} possible{' (a sample)' if known[1] else ''}"
    if "look" in turn:
        look, gains = turn["look"], sorted(turn["looks"].items(), key=lambda window: -window[1])[:MOST_MOVES]
        lines = [
            f"best look {look['best']} (played: {look['played'] or 'nowhere'}); gain of a look:",
            "  " + "  ".join(f"{square} {gain:+.2f}" for square, gain in gains),
            f"after the played look {counted(turn['after_look'], 'position')}",
        ]
    what = "request" if "look" in turn else "answer"
    rows = [
        (each["san"], "" if each["p"] is None else f"{each['p']:.0%}", signed(each["value"], 3))
        for each in turn["moves"]
    ]
    return [
        f"turn {turn['ply']}, {turn['color']}{possible}",
        *lines,
        f"best {what} {turn['best']['san']} (played: {played['san']}):",
        *("  " + " ".join(f"{cell:<6}" for cell in row if cell).rstrip() for row in rows),
    ]


def signed(value: float | None, digits: int) -> str:
    """Return a value with its sign; empty: it is not known."""
    return "" if value is None else f"{value:+.{digits}f}"

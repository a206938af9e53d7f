"""Decisions to learn from, in shards: a player's synopsis, its legal actions, its choice, and the result.

A shard is an npz file of some thousands of decisions, which an :class:`~klss.support.archive.Archive` writes and reads.
Lists of actions differ in length: a shard has all of them in one array, with the *starts* of each list.

A *choice* is the object of a decision: for a move one action, for a sense all windows that partition the set equally.
So a choice can have several actions.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from darkchess.rbc.synoptic.networks import HEADSETS
from darkchess.rbc.synoptic.synopsis import ACTIONS, PLANES
from klss.errors import KlssError
from klss.support.archive import Archive
from klss.support.arrays import Bools, Float32s, Int8s, Int16s, Int32s, Ints, Words
from klss.support.whole_file import written_whole

STRONGEST = ("top", "expect", "siamese")
"""Players whose decisions train ``top``; those of all players train ``all``."""

PIECES = 12
"""Own, then enemy, pawns, knights, bishops, rooks, queens, kings."""

SOON = 5
"""Most actions of a player before the end of a game for it to count as ending soon."""

_PARTS = 10
"""One of this many parts of the games validates."""


class ShardError(KlssError, ValueError):
    """A file without valid decisions."""


_ARCHIVE = Archive("decisions of experiments.rbc_learn", "decisions", 1, "make them anew", ShardError, 1 << 30, 1 << 28)


@dataclass(frozen=True, eq=False)
class Decisions:
    """Decisions, one after the other."""

    synopses: Words  # uint64[m, PLANES]
    # int64[m + 1] and int16[.]: the legal actions, each once
    legal_starts: Ints
    legal: Int16s
    # int64[m + 1] and int16[.]: the actions of the choice, all legal. None if there are ``targets``
    chosen_starts: Ints
    chosen: Int16s
    # int8[m]: the acting player, in ``darkchess.rbc.synoptic.networks.HEADSETS``: the known kinds, and ``top`` for a
    # player of our own
    headset: Int8s
    result: Int8s  # int8[m]: +1 if the acting player won, −1 if it lost, else 0
    soon: Int8s  # int8[m]: +1 if it wins within five of its actions, −1 if it loses within five, else 0
    pieces: Int8s  # int8[m, PIECES]: their numbers on the true board
    game: Int32s  # int32[m]: one number per game, over all shards of a folder
    # float32[.], aligned with ``legal``: target probabilities of the actions, such as a search's shares of visits, with
    # sum 1 in each decision. Instead of one choice
    targets: Float32s | None = None
    # int16[.], aligned with ``legal``: the choice of each action, from 0 on in each decision. Only with ``targets``;
    # None: each action is a separate choice
    choices: Int16s | None = None

    def __len__(self) -> int:
        return int(self.game.shape[0])

    def where(self, wanted: Bools) -> Decisions:
        """The decisions that are ``wanted`` (bool[m]), in order."""
        found: dict[str, Any] = {name: getattr(self, name)[wanted] for name in _ROWS}
        for name in _LISTS:
            starts = getattr(self, f"{name}_starts")
            counts = np.diff(starts)
            found[f"{name}_starts"] = np.concatenate([[0], np.cumsum(counts[wanted])])
            found[name] = getattr(self, name)[np.repeat(wanted, counts)]
        for name in _BESIDE_LEGAL:
            if (beside := getattr(self, name)) is not None:
                found[name] = beside[np.repeat(wanted, np.diff(self.legal_starts))]
        return Decisions(**found)


_ROWS: dict[str, tuple[npt.DTypeLike, tuple[int, ...]]] = {
    "synopses": (np.uint64, (PLANES,)), "headset": (np.int8, ()), "result": (np.int8, ()), "soon": (np.int8, ()),
    "pieces": (np.int8, (PIECES,)), "game": (np.int32, ()),
}  # fmt: skip
_LISTS = ("legal", "chosen")
_BESIDE_LEGAL: dict[str, npt.DTypeLike] = {"targets": np.float32, "choices": np.int16}


def ragged(lists: Sequence[Sequence[int] | npt.NDArray[Any]]) -> tuple[Ints, Int16s]:
    """Lists of actions as their starts (int64[m + 1]) and all of them (int16[.]).

    >>> starts, actions = ragged([[5, 9], [], [7]])
    >>> starts.tolist(), actions.tolist()
    ([0, 2, 2, 3], [5, 9, 7])
    """
    starts = np.concatenate([[0], np.cumsum([len(some) for some in lists])]).astype(np.int64)
    parts = [np.asarray(some, dtype=np.int16) for some in lists]
    return starts, np.concatenate(parts) if parts else np.empty(0, dtype=np.int16)


def of_rows(rows: Sequence[dict[str, Any]]) -> Decisions:
    """Rows in the form of a shard; with targets if the first row has them."""
    legal_starts, legal = ragged([row["legal"] for row in rows])
    chosen_starts, chosen = ragged([row["chosen"] for row in rows])

    def small(name: str) -> Int8s:
        return np.array([row[name] for row in rows], dtype=np.int8)

    return Decisions(
        synopses=np.array([row["synopses"] for row in rows], dtype=np.uint64).reshape(-1, PLANES),
        legal_starts=legal_starts,
        legal=legal,
        chosen_starts=chosen_starts,
        chosen=chosen,
        headset=small("headset"),
        result=small("result"),
        soon=small("soon"),
        pieces=small("pieces").reshape(-1, PIECES),
        game=np.array([row["game"] for row in rows], dtype=np.int32),
        targets=np.concatenate([row["targets"] for row in rows]) if rows and "targets" in rows[0] else None,
        choices=np.concatenate([row["choices"] for row in rows]) if rows and "targets" in rows[0] else None,
    )


def made_shard(path: Path, about: Mapping[str, Any], rows: Callable[[], Sequence[dict[str, Any]]]) -> int:
    """Write a shard of the result of ``rows``, unless a whole one with the same ``about`` exists; return its number of
    decisions.
    """
    with contextlib.suppress(ShardError):
        held, said = read_shard(path)
        if said == about:
            return len(held)
    found = of_rows(rows())
    write_shard(path, found, about)
    return len(found)


def write_shard(path: Path, decisions: Decisions, about: Mapping[str, Any]) -> None:
    """Write some thousands of decisions into ``*.npz``, whole or not at all; ``about`` is JSON: players, seeds. The
    headsets' names are added. Raises ShardError: shapes of arrays disagree, or values are out of range.
    """
    _check(decisions)
    arrays = {name: value for name, value in vars(decisions).items() if value is not None}
    with written_whole(path) as file:
        _ARCHIVE.write(file, arrays, {"headsets": list(HEADSETS), **about})


def read_shard(path: Path) -> tuple[Decisions, dict[str, Any]]:
    """The decisions of a shard, and its ``about``. Raises ShardError: there is no such file, it is cut off, or it is
    something else; the message begins with the path.
    """

    def made(file: BinaryIO) -> tuple[Decisions, dict[str, Any]]:
        arrays, about = _ARCHIVE.read(file)
        if about.pop("headsets", None) != list(HEADSETS):
            raise ShardError(f"bad decisions: got other headsets, expected {', '.join(HEADSETS)}")
        try:
            decisions = Decisions(**arrays)
        except TypeError:
            raise ShardError(f"bad decisions: got arrays {', '.join(sorted(arrays)[:20])}") from None
        _check(decisions)
        return decisions, about

    return _ARCHIVE.load(path, made)


def shard_paths(folder: Path) -> list[Path]:
    """The shards of a folder, by name. Raises ShardError: there are none."""
    found = sorted(folder.glob("*.npz"))
    if not found:
        raise ShardError(f"no shards in {folder}: expected those of python -m experiments.rbc_learn data")
    return found


def joined(parts: Sequence[Decisions]) -> Decisions:
    """The concatenation. Raises ShardError: only some have targets."""
    found: dict[str, Any] = {
        name: np.concatenate([getattr(part, name) for part in parts]) for name in (*_ROWS, *_LISTS)
    }
    for name in _LISTS:
        counts = [np.diff(getattr(part, f"{name}_starts")) for part in parts]
        found[f"{name}_starts"] = np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.int64)
    for name in _BESIDE_LEGAL:
        beside = [getattr(part, name) for part in parts]
        if len({value is None for value in beside}) > 1:
            raise ShardError(f"got shards with {name} and shards without, expected one or the other")
        found[name] = None if beside[0] is None else np.concatenate(beside)
    return Decisions(**found)


def validating(game: Int32s) -> Bools:
    """Mask of the decisions for validation, by a hash of their game: a tenth of the games; bool[m]."""
    numbers, which = np.unique(game, return_inverse=True)
    digests = (hashlib.blake2b(f"game {number}".encode(), digest_size=8).digest() for number in numbers)
    held = np.array([int.from_bytes(digest, "little") % _PARTS == 0 for digest in digests], dtype=bool)
    return held[which]


def _check(decisions: Decisions) -> None:
    rows = len(decisions)
    for name, (kind, shape) in _ROWS.items():
        array = getattr(decisions, name)
        if array.dtype != kind or array.shape != (rows, *shape):
            raise ShardError(
                f"bad decisions: got {name} of {array.dtype} and shape {array.shape}, expected {np.dtype(kind)} and "
                f"{(rows, *shape)}"
            )
    for name in _LISTS:
        starts, actions = getattr(decisions, f"{name}_starts"), getattr(decisions, name)
        good = (
            starts.dtype == np.int64
            and starts.shape == (rows + 1,)
            and starts[0] == 0
            and (np.diff(starts) >= 0).all()
            and actions.dtype == np.int16
            and actions.shape == (starts[-1],)
        )
        if not good:
            raise ShardError(f"bad decisions: got {name} that do not fit their starts, expected {rows} lists of int16")
        if actions.size and not (actions.min() >= 0 and actions.max() < ACTIONS):
            raise ShardError(f"bad decisions: got {name} {actions.min()} … {actions.max()}, expected 0 … {ACTIONS - 1}")
    for name, kind in _BESIDE_LEGAL.items():
        beside = getattr(decisions, name)
        if beside is not None and (beside.dtype != kind or beside.shape != decisions.legal.shape):
            raise ShardError(
                f"bad decisions: got {name} of {beside.dtype} and shape {beside.shape}, expected {np.dtype(kind)} "
                f"beside {decisions.legal.shape[0]} legal actions"
            )
    if (np.diff(decisions.legal_starts) == 0).any():
        raise ShardError("bad decisions: got one without legal actions")
    if decisions.targets is not None:
        if not np.isfinite(decisions.targets).all() or (decisions.targets < 0).any():
            raise ShardError("bad decisions: got targets below 0 or infinite")
    elif not _contained(decisions):
        raise ShardError("bad decisions: got a choice of none, or of actions that are not legal")
    for name, least, most in (("headset", 0, len(HEADSETS) - 1), ("result", -1, 1), ("soon", -1, 1), ("pieces", 0, 64)):
        array = getattr(decisions, name)
        if array.size and not (least <= array.min() and array.max() <= most):
            raise ShardError(f"bad decisions: got {name} {array.min()} … {array.max()}, expected {least} … {most}")


def _contained(decisions: Decisions) -> bool:
    """Whether each decision chose at least one action, and legal ones only."""
    counts = np.diff(decisions.chosen_starts)
    legal = np.repeat(np.arange(len(decisions)), np.diff(decisions.legal_starts)) * ACTIONS + decisions.legal
    chosen = np.repeat(np.arange(len(decisions)), counts) * ACTIONS + decisions.chosen
    return bool((counts > 0).all() and np.isin(chosen, legal).all())

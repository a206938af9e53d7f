"""Figures of a network on decisions that it has not learned from, by the inference that play uses.

Accuracies are the paper's: whether the choice is the likeliest action, or among the five likeliest (for a choice of
several actions, whether one of them is), and whether the sign of the value is that of the result. Each log loss has
that of the uniform policy beside it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from darkchess.rbc.synoptic.networks import HEADSETS
from experiments.rbc_learn.data import STRONGEST, Decisions
from experiments.rbc_learn.networks import Batch, batch_of
from klss.networks.residual import ResidualNetwork
from klss.support.arrays import Bools, Float32s, Floats, Ints

_BATCH = 256


def members(headset: str, acting: npt.NDArray[np.int8]) -> Bools:
    """Mask of the decisions from which ``headset`` learns, by the ``acting`` player: bool[m]."""
    if headset == "all":
        return np.ones(acting.shape, dtype=bool)
    names = STRONGEST if headset == "top" else (headset,)
    return np.isin(acting, [HEADSETS.index(name) for name in names])


def policy_losses(logits: Float32s, batch: Batch) -> Floats:
    """−Σ target · ln of each choice's probability: float64[b]. See :func:`experiments.rbc_learn.networks.choice_logs`,
    which is the same in JAX.
    """
    there = batch.legal >= 0
    found = np.where(there, np.take_along_axis(logits.astype(np.float64), np.maximum(batch.legal, 0), axis=1), -np.inf)
    shares = np.exp(found - found.max(axis=1, keepdims=True))
    sums = np.zeros(found.shape)
    np.add.at(sums, (np.arange(len(found))[:, None], batch.choices), shares)
    logs = np.log(np.maximum(sums, 1e-300) / shares.sum(axis=1, keepdims=True))
    return np.asarray(-(batch.targets * logs).sum(axis=1))


def measured(network: ResidualNetwork, held: Decisions, headset: str) -> dict[str, float]:
    """Figures over all ``held``, which are decisions of ``headset``: their number, ``log_loss`` and ``uniform``,
    ``top_1`` and ``top_5``, ``value_loss`` and ``winner`` (over games that were won).
    """
    columns: dict[str, list[Any]] = {name: [] for name in ("log_loss", "uniform", "top_1", "top_5", "value")}
    for start in range(0, len(held), _BATCH):
        rows = np.arange(start, min(start + _BATCH, len(held)))
        batch = batch_of(held, rows)
        logits, values = network.infer(held.synopses[rows], headset, headset)
        columns["log_loss"].append(policy_losses(logits, batch))
        columns["uniform"].append(policy_losses(np.zeros_like(logits), batch))
        hits = _hits(logits, batch)
        columns["top_1"].append(hits[:, 0])
        columns["top_5"].append(hits.any(axis=1))
        columns["value"].append(values)
    found = {name: np.concatenate(parts) for name, parts in columns.items()}
    result = held.result.astype(np.float64)
    won = result != 0
    value = found.pop("value")
    means = {name: round(float(array.mean()), 4) for name, array in found.items()}
    winner = float((np.sign(value) == result)[won].mean()) if won.any() else 0.0
    return {
        "decisions": len(held),
        "games": len(np.unique(held.game)),
        **means,
        "value_loss": round(float(((value - result) ** 2).mean()), 4),
        "winner": round(winner, 4),
    }


def _hits(logits: Float32s, batch: Batch) -> Bools:
    """Whether each of the five likeliest legal actions belongs to the choice with the largest target: bool[b, 5]."""
    rows: Ints = np.arange(len(batch.legal))[:, None]
    there = batch.legal >= 0
    found = np.where(there, np.take_along_axis(logits, np.maximum(batch.legal, 0), axis=1), -np.inf)
    best = np.argsort(-found, axis=1, kind="stable")[:, :5]
    aimed = batch.targets.argmax(axis=1)[:, None]
    return np.asarray((batch.choices[rows, best] == aimed) & there[rows, best])

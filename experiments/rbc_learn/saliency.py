"""Which planes a network looks at: ``python -m experiments.rbc_learn saliency --run RUN_DIR --data DIR``.

By the network's own gradient, as the source does it: how much the policy of what was chosen (its logarithm) and the
value change if a plane's bits count a little more, the mean of their sizes over decisions that were not trained on;
once as it is, and once for each bit that is set. It says what the network uses, not what it would lose without the
plane: that, a training without it says (``imitate --without``), against the spread of trainings with other seeds.
``results/rbc_saliency.json`` has all planes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from darkchess.rbc.synoptic.synopsis import NAMES, PLANES
from experiments.rbc_learn.data import Decisions, ShardError, joined, read_shard, shard_paths, validating
from experiments.rbc_learn.learner import Learner
from experiments.rbc_learn.networks import batch_of, choice_logs, outputs
from experiments.rbc_weighting.networks import TrainingError, jax_on_cpu
from experiments.series.runner import RESULTS, positive
from klss.support.arrays import Floats
from uci_bridge.match.documents import head, write_document

__all__ = ["main", "saliency"]

_TOGETHER = 32
_SHOWN = 10


def saliency(learner: Learner, held: Decisions, headset: str) -> tuple[Floats, Floats, Floats]:
    """Of each plane (float64[PLANES]): the mean size of the gradients of ln π(choice), of the value, and of the number
    of bits that are set.

    Raises
    ------
    TrainingError
        JAX is not installed.
    """
    jax = jax_on_cpu()
    trunk, of_trunk = learner.part("trunk")
    heads, of_heads = learner.part(headset)

    def said(counting: Any, one: Any) -> Any:
        # A plane that counts more is a first convolution whose filters for it are larger.
        scaled = {**trunk, "conv0": trunk["conv0"] * counting[None, None, :, None]}
        many = {name: array[None] for name, array in one.items()}
        found, _ = outputs(jax, scaled, heads, many["synopses"], (of_trunk, of_heads))
        logs = choice_logs(jax, found["logits"], many["legal"], many["choices"])
        aimed = many["targets"] > 0
        policy = jax.numpy.where(aimed, many["targets"] * jax.numpy.where(aimed, logs, 0.0), 0.0).sum()
        return jax.numpy.stack([policy, found["value"].reshape(())])

    program = jax.jit(jax.vmap(jax.jacrev(said), in_axes=(None, 0)))
    sums, bits = np.zeros((2, PLANES)), np.zeros(PLANES)
    for begin in range(0, len(held) - _TOGETHER + 1, _TOGETHER):
        rows = np.arange(begin, begin + _TOGETHER)
        batch = dict(vars(batch_of(held, rows)))
        gradients = np.asarray(program(np.ones(PLANES, dtype=np.float32), batch), dtype=np.float64)
        sums += np.abs(gradients).sum(axis=0)
        bits += np.bitwise_count(held.synopses[rows]).sum(axis=0)
    count = max(1, len(held) // _TOGETHER * _TOGETHER)
    return sums[0] / count, sums[1] / count, bits / count


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, write, print the planes that count most; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.rbc_learn saliency", description="which planes a network looks at"
    )
    parser.add_argument("--run", type=Path, required=True, metavar="RUN_DIR", help="of imitate")
    parser.add_argument("--data", type=Path, required=True, metavar="DIR", help="its shards")
    parser.add_argument("--headset", default="top", metavar="NAME", help="(default top)")
    parser.add_argument("--decisions", type=positive, default=2000, metavar="N", help="(default 2000)")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where rbc_saliency.json is kept")
    parsed = parser.parse_args(arguments)
    try:
        learner, _ = Learner.load(parsed.run / "checkpoint.npz")
        if parsed.headset not in learner.sizes.headsets:
            raise TrainingError(f"no headset {parsed.headset!r}; expected one of {', '.join(learner.sizes.headsets)}")
        parts: list[Decisions] = []
        for path in shard_paths(parsed.data):
            shard, _ = read_shard(path)
            parts.append(shard.where(validating(shard.game)))
            if sum(map(len, parts)) >= parsed.decisions:
                break
        held = joined(parts)
        held = held.where(np.arange(len(held)) < parsed.decisions)
        policy, value, bits = saliency(learner, held, parsed.headset)
    except (TrainingError, ShardError) as error:
        print(error, file=sys.stderr)
        return 1
    per_bit = (policy + value) / np.maximum(bits, 1e-9)
    order = np.argsort(-np.where(bits >= 0.01, per_bit, 0.0), kind="stable")
    planes = [
        {
            "plane": int(i),
            "name": NAMES[i],
            "policy": policy[i],
            "value": value[i],
            "bits": bits[i],
            "per_bit": per_bit[i],
        }
        for i in order.tolist()
    ]
    document = head("rbc_learn saliency", "numpy", "jax") | {
        "headset": parsed.headset, "decisions": len(held), "planes": planes,
    }  # fmt: skip
    write_document(parsed.results / "rbc_saliency.json", document)
    for plane in planes[:_SHOWN]:
        print(
            f"{plane['plane']:4} {plane['name']:44} policy {plane['policy']:.3f}, value {plane['value']:.3f}, "
            f"{plane['bits']:.1f} bits, per bit {plane['per_bit']:.4f}"
        )
    return 0

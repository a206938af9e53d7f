"""Fitting weights: JAX on one thread, a step of Adam, and the slow average of the weights, which is used in play.

Moments are plain arrays beside the weights, so that a training can be written to a file and resumed.

Sources: D. Kingma, J. Ba 2015 (Adam), I. Loshchilov, F. Hutter 2019 (its decay); the steps are optax's.
"""

from __future__ import annotations

import os
from typing import Any

from klss.errors import KlssError

WARM_STEPS = 100
"""Steps in which the learning rate rises from 0."""


class TrainingError(KlssError, ValueError):
    """There is no data to train on, or a required package or file is missing or wrong."""


def jax_on_cpu() -> Any:
    """JAX on one thread, since a second one makes it slower here. Raises TrainingError: it or optax isn't installed."""
    os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
    try:
        import jax
        import optax  # noqa: F401
    except ImportError:
        raise TrainingError(
            "training takes JAX and optax; expected them: .venv/bin/pip install -c constraints.txt -e '.[belief]' in a "
            "clone"
        ) from None
    return jax


def adam_step(
    weights: Any, gradient: Any, mean: Any, square: Any, count: Any, rate: Any, decay: float
) -> tuple[Any, Any, Any]:
    """One step of Adam with decoupled decay, inside a compiled program: weights and moments after it.

    ``weights``, ``gradient``, ``mean`` and ``square`` are trees of arrays of equal shapes, the last two the moments;
    ``count`` is the number of this step, from 1 on; ``rate`` and ``decay`` are its learning rate and weight decay.
    """
    import jax
    import optax

    before = optax.ScaleByAdamState(count=jax.numpy.asarray(count - 1, dtype="int32"), mu=mean, nu=square)
    towards, after = optax.scale_by_adam().update(gradient, before)
    changes = jax.tree.map(lambda to, weight: -rate * (to + decay * weight), towards, weights)
    return optax.apply_updates(weights, changes), after.mu, after.nu


def averaged(slow: Any, weights: Any, share: Any) -> Any:
    """``share`` of the slow average, the rest of ``weights``."""
    import optax

    return optax.incremental_update(weights, slow, 1 - share)

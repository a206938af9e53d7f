"""Equilibria by regret minimisation: there are plans at any moment, the gap can be chosen, and no program is built.

Sources: CFR+ (Tammelin 2014), with linear averages; DCFR (Brown & Sandholm, AAAI 2019), α 1.5, β 0, γ 2; PCFR+ (Farina,
Kroer & Sandholm, AAAI 2021), with quadratic averages. All alternate, on sequences instead of tree nodes.

Decided here: the result is the average or the last plans, whichever pair has the smaller gap, since PCFR+'s last plans
are often far better.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from klss.errors import GameError, KlssError
from klss.support.archive import Archive
from klss.support.arrays import Floats
from klss.support.memory import check_memory
from klss.support.whole_file import written_whole
from klss.theory._kernels import regrets
from klss.theory._kernels.treeplex import realise
from klss.theory.best_response import exploitability
from klss.theory.equilibrium import Solution, SolveStats, Status
from klss.theory.sequence_form import SequenceForm
from klss.theory.treeplex import behaviour, realization, uniform_behaviour

FirstOrderMethod = Literal["pcfr+", "dcfr", "cfr+"]

METHODS = get_args(FirstOrderMethod)

GAP = 1e-3
"""Default gap, in the game's own units."""

_FIRST_LOOK, _LOOK_SHARE = 10, 0.1
"""Iterations before the first computation of the gap, and the growth of their number, as a share, before each next."""

_BATCH_S = 0.2
"""Most seconds between two checks of the clock, and about the time that an interrupt waits."""

_SAVE_S = 60.0
"""Seconds between two saves of a run that is kept in a file."""

_BYTES_A_NONZERO, _BYTES_A_SEQUENCE = 40, 120
"""Memory in bytes. A nonzero: the payoffs twice, and once more while they are transposed. A sequence: regrets, plans,
averages and work arrays.
"""


class _Rule(NamedTuple):
    rule: regrets.Rule
    discount: float  # see klss.theory._kernels.regrets.iterate
    power: float


_RULES: dict[str, _Rule] = {
    # The methods' own constants, see the sources above.
    "pcfr+": _Rule(regrets.Rule(1.0, 0.0, 1.0, True), 0.0, 2.0),
    "dcfr": _Rule(regrets.Rule(1.0, 0.5, 0.0, True), 1.5, 2.0),
    "cfr+": _Rule(regrets.Rule(1.0, 0.0, 0.0, True), 0.0, 1.0),
}


class SavedRunError(KlssError, ValueError):
    """A file does not contain a run that can be continued."""


_SAVED = Archive("a run of klss solve", 1, SavedRunError, 1 << 30)

_ABOUT_BYTES = 8192
"""Most bytes of a file's description, and of its directory."""


class RegretState(NamedTuple):
    """One player's learned state, float64[S] each."""

    regret: Floats
    strategy: Floats
    plan: Floats
    total: Floats  # weighted sum of plans


class FirstOrder:
    """A run of a first-order method on a sequence form, compiled and ready."""

    def __init__(self, form: SequenceForm, method: str = "pcfr+") -> None:
        self.form, self.method = form, method
        self._done = np.zeros(1, np.int64)
        self._rule = _RULES[method]
        self._sides = tuple(treeplex.arrays for treeplex in form.treeplexes)
        self._payoffs = self._rows()
        # Both players begin without regret, with uniform strategies.
        learned = []
        for treeplex, arrays in zip(form.treeplexes, self._sides, strict=True):
            state = RegretState(*(np.zeros(treeplex.sequence_count) for _ in range(4)))
            state.strategy[:] = uniform_behaviour(treeplex)
            state.plan[0] = 1.0
            realise(arrays, state.strategy, state.plan)
            learned.append(state)
        self._learned = tuple(learned)
        self._work = tuple(np.zeros(treeplex.sequence_count) for treeplex in form.treeplexes)
        self.run(0)
        self.best = self.profile()  # the best plans that :meth:`look` has seen, and their gap

    @classmethod
    def takes_bytes(cls, form: SequenceForm) -> int:
        """Return about how much memory a run takes."""
        nonzeros = int(form.a.nnz + form.b.nnz)
        return _BYTES_A_NONZERO * nonzeros + _BYTES_A_SEQUENCE * sum(t.sequence_count for t in form.treeplexes)

    def _rows(self) -> tuple[Any, ...]:
        """Return the payoffs by each player's sequences: see :func:`klss.theory._kernels.regrets.iterate`."""
        return tuple((each.indptr, each.indices, each.data) for each in (self.form.payoff, self.form.payoff_transposed))

    @property
    def iterations(self) -> int:
        """Number of iterations so far."""
        return int(self._done[0])

    def run(self, times: int) -> None:
        """Run ``times`` more iterations."""
        # The kernel counts them itself: an interrupt is raised after the call, before anything else could.
        rule = self._rule
        regrets.iterate(
            times, self._done, rule.discount, rule.rule, rule.power, self._sides, self._payoffs, self._learned,
            self._work,
        )  # fmt: skip

    def look(self) -> None:
        """Compute the gap of the present plans, and keep them if they are the best."""
        self.best = min(self.best, self.profile(), key=lambda each: each[2])

    def profile(self) -> tuple[Floats, Floats, float]:
        """Return the better of the average and the last plans, float64[S0] and float64[S1], and their gap."""
        x, y = (state.plan.copy() for state in self._learned)
        last = x, y, exploitability(self.form, x, y)
        # A sum of plans is a plan up to its scale and rounding; going through the behaviour removes both.
        x, y = (
            realization(treeplex, behaviour(treeplex, state.total / (state.total[0] or 1.0)))
            for treeplex, state in zip(self.form.treeplexes, self._learned, strict=True)
        )
        mean = x, y, exploitability(self.form, x, y)
        return mean if mean[2] < last[2] else last

    def save(self, path: Path) -> None:
        """Write a file from which a later run can go on. The file is written completely, or stays as it was."""
        arrays = {
            f"{name}{player}": array
            for player, state in enumerate(self._learned)
            for name, array in state._asdict().items()
        }
        about = {"method": self.method, "iterations": self.iterations, "game": self._fingerprint()}
        with written_whole(path) as file:
            _SAVED.write(file, arrays, about, packed=False)

    @classmethod
    def resumed(cls, form: SequenceForm, path: Path, method: str = "pcfr+") -> FirstOrder:
        """Return a run that goes on from a file of :meth:`save`.

        Raises
        ------
        SavedRunError
            The file is not one of :meth:`save`, or is of another game or method.
        """
        # No larger than a run of this game: a file of another one must not take more memory than this game may.
        most = _ABOUT_BYTES + len(RegretState._fields) * sum(t.sequence_count for t in form.treeplexes)
        arrays, about = replace(_SAVED, most_numbers=most).load(path)
        if (kept := about.get("method")) != method:
            raise SavedRunError(f"{path}: got a run of method {kept!r}, expected {method!r}; begin in another file")
        run = cls(form, method)
        # Another game's arrays may have the same shapes, so compare the fingerprints.
        if about.get("game") != run._fingerprint():
            raise SavedRunError(f"{path}: got a run of another game, expected one of this; begin in another file")
        for player, state in enumerate(run._learned):
            for name, array in state._asdict().items():
                saved = arrays.get(f"{name}{player}")
                if saved is None or saved.shape != array.shape:
                    raise SavedRunError(f"{path}: got no {name} of {array.size} sequences; begin anew in another file")
                array[:] = saved
        if not isinstance(done := about.get("iterations"), int) or not 0 <= done < 2**53:
            raise SavedRunError(f"{path}: got {done!r} iterations, expected a number; begin anew in another file")
        run._done[0] = done
        run.best = run.profile()
        return run

    def _fingerprint(self) -> str:
        """Return a hash of the treeplexes and payoffs."""
        parts = [array for side in self._sides for array in side] + [array for each in self._payoffs for array in each]
        digest = hashlib.sha256()
        for part in parts:
            digest.update(np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()[:16]


def solve(
    form: SequenceForm,
    *,
    method: str = "pcfr+",
    gap: float = GAP,
    seconds: float | None = None,
    max_bytes: int | None = None,
    resume: Path | None = None,
    on_progress: Callable[[int, float], None] | None = None,
    kind: type[FirstOrder] = FirstOrder,
) -> Solution:
    """Iterate until the gap is small enough or the time is over.

    Parameters
    ----------
    form : SequenceForm
    method : "pcfr+" | "dcfr" | "cfr+"
    gap : float
        Stop at this exploitability, in the game's own units.
    seconds : float, optional
        Stop after this many seconds; compiling and building are not counted.
    max_bytes : int, optional
        Most bytes of this process; checked before anything is allocated.
    resume : Path, optional
        File from which to go on, if it exists; it is written once a minute and at the end, also after an interrupt.
    on_progress : callable, optional
        Called with iterations and the best gap each time the gap was computed.
    kind : type of FirstOrder
        How a run computes utilities.

    Returns
    -------
    Solution
        Of status "optimal" (the gap was reached) or "time_limit".

    Raises
    ------
    GameError, TooLargeError, SavedRunError
    """
    if not gap >= 0.0:
        raise GameError(f"gap: got {gap}, expected 0 or more")
    check_memory("first-order method: it", kind.takes_bytes(form), max_bytes)
    # A new run, or the one in the file.
    if resume is not None and resume.exists():
        if not resume.is_file():  # a pipe or a device might never end
            raise SavedRunError(f"{resume}: got no file, expected one of a run, or a new one's name")
        run = kind.resumed(form, resume, method)
    else:
        run = kind(form, method)
    # Iterate; save the state however that ends, also after an interrupt.
    begin = time.perf_counter()
    try:
        status = _until(run, gap, begin, seconds, resume, on_progress)
    finally:
        if resume is not None:
            run.save(resume)
    # A first-order method has no program: rows and columns are 0.
    x, y, found = run.best
    stats = SolveStats(
        rows=0, columns=0, nonzeros=int(form.payoff.nnz), method=run.method, iterations=run.iterations,
        seconds=time.perf_counter() - begin, attempts=(f"{run.method}: {status}",),
    )  # fmt: skip
    return Solution(form.value(x, y), x, y, status, found, stats, form.game)


def _until(
    run: FirstOrder,
    gap: float,
    begin: float,
    seconds: float | None,
    path: Path | None,
    on_progress: Callable[[int, float], None] | None,
) -> Status:
    """Return why the run ended."""
    rate, saved = 0.0, begin  # iterations a second; when the file was written last
    while True:
        if run.best[2] <= gap:
            return "optimal"
        if seconds is not None and time.perf_counter() - begin >= seconds:
            return "time_limit"
        # Iterate until the gap is computed next, in batches short enough for the clock and for interrupts.
        look = run.iterations + max(_FIRST_LOOK, int(_LOOK_SHARE * run.iterations))
        while run.iterations < look:
            started = time.perf_counter()
            batch_s = _BATCH_S if seconds is None else min(_BATCH_S, seconds - (started - begin))
            if batch_s <= 0.0:
                break
            times = max(1, min(look - run.iterations, int(rate * batch_s)))
            run.run(times)
            now = time.perf_counter()
            rate = times / max(1e-9, now - started)
            if path is not None and now - saved >= _SAVE_S:
                run.save(path)
                saved = time.perf_counter()
        run.look()
        if on_progress is not None:
            on_progress(run.iterations, run.best[2])

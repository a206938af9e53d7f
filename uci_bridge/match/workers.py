"""The workers that play the games of a match: this process, child processes, or the workers of a dask cluster.

Workers only play; the process that started the match writes the files. If a worker dies, its games are played again by
another one. Games are handed out a few at a time, so that none is waiting when a match ends early.

Anybody who can reach a dask scheduler can run code as the user of its workers and of its clients. So a scheduler that
is not at a ``tls://`` address is only for machines on which everybody is trusted.
"""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

from klss.errors import INSTALL_EXTRAS
from uci_bridge.match.engines import Engines, Setup
from uci_bridge.match.files import MatchError
from uci_bridge.match.game import play_game
from uci_bridge.match.pool import MOST_DEATHS, LocalWorkers
from uci_bridge.match.task import GameResult, GameTask

_CONNECT_S = 15.0
_IDLE_S = 60.0
"""Seconds without a game after which a worker's engines are ended: the process that started the match may be gone."""


def workers_for(
    setup: Setup, workers: int | None = None, scheduler: str | None = None
) -> InProcess | LocalWorkers | ClusterWorkers:
    """The workers of a match, for ``workers`` games at a time (None: 1, or the number of the cluster's threads).

    ``scheduler`` is the address of the scheduler of a running dask cluster; None: this process plays one game, child
    processes several. Raises MatchError: a scheduler is named and dask is not installed, or there is no such scheduler,
    or it has no workers.
    """
    if scheduler is not None:
        return ClusterWorkers(setup, workers, scheduler)
    return InProcess(setup) if workers in (None, 1) else LocalWorkers(setup, workers)


class InProcess:
    """This process plays, one game after the other; the engines are separate processes all the same."""

    def __init__(self, setup: Setup) -> None:
        self._setup, self._engines = setup, Engines(setup)

    def results(self, tasks: Iterator[GameTask]) -> Iterator[GameResult]:
        """Play the games; they come in the order in which they end."""
        for task in tasks:
            yield play_game(self._setup, task, self._engines)

    def close(self) -> None:
        """End the engines at once."""
        self._engines.close(at_once=True)


class ClusterWorkers:
    """The workers of a running ``dask.distributed`` cluster."""

    def __init__(self, setup: Setup, workers: int | None, scheduler: str) -> None:
        os.environ.setdefault("DASK_LOGGING__DISTRIBUTED", "critical")
        try:
            from distributed import Client
            from distributed.comm.addressing import get_address_host_port
        except ImportError:
            raise MatchError(
                f"--scheduler: got {scheduler!r}, which takes dask; expected it: {INSTALL_EXTRAS}"
            ) from None
        for name in ("distributed", "distributed.scheduler", "distributed.nanny", "distributed.worker", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self._setup = setup
        self._match = secrets.token_hex(8)
        try:
            get_address_host_port(scheduler)  # before: a client of a bad address logs errors again when it is collected
            self._client = Client(scheduler, timeout=_CONNECT_S, set_as_default=False)
        except (OSError, TypeError, ValueError, TimeoutError) as error:  # TypeError: tls:// without certificates
            raise MatchError(
                f"--scheduler: got {scheduler!r}, expected the address of a dask scheduler that answers, such as "
                f"tls://host:8786 ({str(error).splitlines()[0][:200]})"
            ) from None
        if not self._client.nthreads():
            try:
                self._client.wait_for_workers(1, timeout=_CONNECT_S)
            except TimeoutError:
                self._client.close()
                raise MatchError(f"--scheduler: got {scheduler!r}, which has no workers; start some") from None
        if not scheduler.startswith("tls://"):
            print(
                f"--scheduler: got {scheduler!r}: whoever reaches it can see the games and run code as you; at "
                "a tls:// address, only who has a certificate",
                file=sys.stderr,
            )
        self._at_once = workers or max(1, sum(self._client.nthreads().values()))

    def results(self, tasks: Iterator[GameTask]) -> Iterator[GameResult]:
        from distributed import as_completed

        playing: dict[Any, tuple[GameTask, int]] = {}
        games = as_completed([], loop=self._client.loop)

        def submit(task: GameTask, deaths: int = 0) -> None:
            key = f"klss-game-{task.game}-{secrets.token_hex(6)}"
            future = self._client.submit(
                play_for, self._match, self._setup, task, pure=False, priority=-task.game, key=key
            )
            playing[future.key] = task, deaths
            games.add(future)

        for _, task in zip(range(self._at_once), tasks, strict=False):
            submit(task)
        while playing:
            future = next(games)
            task, deaths = playing.pop(future.key)
            if future.status == "finished":
                result: GameResult = future.result()
                future.release()
                following = next(tasks, None)
                if following is not None:
                    submit(following)
                yield result
                continue
            self._check(task, future, deaths)
            submit(task, deaths + 1)

    def _check(self, task: GameTask, future: Any, deaths: int) -> None:
        """Raise the error of a failed game, unless it was its worker's death."""
        from distributed import KilledWorker
        from distributed.client import FutureCancelledError

        try:
            error = future.exception(timeout=_CONNECT_S)
        except (FutureCancelledError, TimeoutError) as lost:
            error = lost
        if isinstance(error, KilledWorker) and deaths < MOST_DEATHS:
            return
        if isinstance(error, KilledWorker | FutureCancelledError | TimeoutError):
            raise MatchError(
                f"game {task.game}: its worker was lost ({type(error).__name__}); the same command goes on from there"
            )
        if isinstance(error, ImportError):
            raise MatchError(f"a worker can't play: {error}; expected klss, the same version, wherever workers run")
        raise error

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self._client.run(close_engines, self._match)
        with contextlib.suppress(Exception):
            self._client.close(timeout=2)


# ----------------------------------------------------------------------------------------------------------------------
# in a worker

_lock = threading.Lock()
_idle: dict[str, list[tuple[Engines, float]]] = {}
"""The unused engines of each match, and the time since when."""

_watched = False


def play_for(match: str, setup: Setup, task: GameTask) -> GameResult:
    """Play a game of ``match`` in this worker, with the engines of an earlier game or new ones."""
    _watch()
    with _lock:
        waiting = _idle.setdefault(match, [])
        engines = waiting.pop()[0] if waiting else None
    if engines is None:
        engines = Engines(setup)
    try:
        result = play_game(setup, task, engines)
    except BaseException:
        engines.close(at_once=True)
        raise
    with _lock:
        _idle.setdefault(match, []).append((engines, time.monotonic()))
    return result


def close_engines(match: str) -> None:
    """End this worker's unused engines of ``match``."""
    with _lock:
        waiting = _idle.pop(match, [])
    for engines, _ in waiting:
        engines.close(at_once=True)


def _watch() -> None:
    """Once per worker: reduce its logging, and start the thread that ends engines after a while without use."""
    global _watched
    with _lock:
        if _watched:
            return
        _watched = True
    logging.getLogger("uci_bridge").setLevel(logging.ERROR)  # an engine's faults are in its game's line
    threading.Thread(target=_end_idle, name="ends idle engines", daemon=True).start()


def _end_idle() -> None:
    while True:
        time.sleep(_IDLE_S / 10)
        old = time.monotonic() - _IDLE_S
        with _lock:
            ending = [engines for waiting in _idle.values() for engines, since in waiting if since < old]
            for match, waiting in list(_idle.items()):
                _idle[match] = [entry for entry in waiting if entry[1] >= old]
        for engines in ending:
            engines.close(at_once=True)

"""The workers that play the games of a match: threads of this process, or those of a running dask cluster.

A thread only tells the engines, which are processes of their own, whose turn it is, so threads play as many games at a
time as processes would. Games are handed out a few at a time, so that none is waiting when a match ends early.

Anybody who can reach a dask scheduler can run code as the user of its workers and of its clients. So a scheduler that
is not at a ``tls://`` address is only for machines on which everybody is trusted.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, ThreadPoolExecutor, wait
from functools import partial
from itertools import islice

from klss.errors import INSTALL_EXTRAS
from uci_bridge.match.files import MatchError
from uci_bridge.match.game import Conditions, Engines, GameResult, GameTask, play_game

_CONNECT_S = 15.0


class Workers:
    """Threads of this process; a single one is the caller's."""

    def __init__(self, match: Conditions, at_once: int) -> None:
        self._match, self._at_once = match, at_once
        self._engines: list[Engines] = []
        self._idle: list[Engines] = []
        self._playing: dict[Future[GameResult], GameTask] = {}

    def results(self, tasks: Iterator[GameTask]) -> Iterator[GameResult]:
        """Play the games; they come in the order in which they end."""
        if self._at_once == 1:
            yield from map(self._play, tasks)
            return
        with ThreadPoolExecutor(self._at_once) as threads:
            yield from self._from(threads, self._play, tasks)

    def close(self) -> None:
        """End the games and their engines at once."""
        while True:
            for engines in self._engines:
                engines.close(at_once=True)
            if not wait(self._playing, timeout=0.05).not_done:
                return

    def _from(
        self, executor: Executor, play: Callable[[GameTask], GameResult], tasks: Iterator[GameTask]
    ) -> Iterator[GameResult]:
        def submit(some: Iterator[GameTask]) -> None:
            self._playing.update((executor.submit(play, task), task) for task in some)

        submit(islice(tasks, self._at_once))
        try:
            while self._playing:
                for future in wait(self._playing, return_when=FIRST_COMPLETED).done:
                    task = self._playing.pop(future)
                    result = self._result(future, task)
                    submit(islice(tasks, 1))
                    yield result
        finally:
            self.close()

    def _result(self, future: Future[GameResult], task: GameTask) -> GameResult:
        return future.result()

    def _play(self, task: GameTask) -> GameResult:
        try:
            engines = self._idle.pop()  # in one step: several threads come here at once
        except IndexError:
            engines = Engines(self._match)
            self._engines.append(engines)
        result = play_game(self._match, task, engines)
        self._idle.append(engines)
        return result


class ClusterWorkers(Workers):
    """The workers of a running ``dask.distributed`` cluster; each game starts its engines and ends them.

    Raises MatchError: dask is not installed, or there is no such scheduler, or it has no workers.
    """

    def __init__(self, match: Conditions, workers: int | None, scheduler: str) -> None:
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
        super().__init__(match, workers or max(1, sum(self._client.nthreads().values())))

    def results(self, tasks: Iterator[GameTask]) -> Iterator[GameResult]:
        return self._from(self._client.get_executor(pure=False), partial(_play_alone, self._match), tasks)

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self._client.close(timeout=2)

    def _result(self, future: Future[GameResult], task: GameTask) -> GameResult:
        from distributed import KilledWorker  # dask itself has tried the game with other workers

        try:
            return future.result()
        except (KilledWorker, CancelledError, TimeoutError) as error:
            raise MatchError(
                f"game {task.game}: its worker was lost ({type(error).__name__}); the same command goes on from there"
            ) from None
        except ImportError as error:
            raise MatchError(
                f"a worker can't play: {error}; expected klss, the same version, wherever workers run"
            ) from None


def _play_alone(match: Conditions, task: GameTask) -> GameResult:
    """Play a game with engines of its own."""
    engines = Engines(match)
    try:
        return play_game(match, task, engines)
    finally:
        engines.close(at_once=True)

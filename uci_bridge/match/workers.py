"""The workers that play the games of a match, or analyse those of an archive: threads of this process, or those of a
running dask cluster.

A thread only tells processes of its own what to do, so threads play as many games at a time as processes would. Games
are handed out a few at a time, so that none is waiting when a match ends early.

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
from dataclasses import dataclass
from itertools import islice
from typing import Generic, Protocol, TypeVar

from klss.errors import INSTALL_EXTRAS
from klss.support import threads
from uci_bridge.match.files import MatchError

_CONNECT_S = 15.0

_LOOK_S = 0.5
"""Seconds between two looks whether a signal asks the match to end."""


class Tool(Protocol):
    """The processes of one worker."""

    def close(self, *, at_once: bool = False) -> None:
        """End them; from any thread. ``at_once``: without waiting."""
        ...


SomeTask = TypeVar("SomeTask")
SomeTool = TypeVar("SomeTool", bound=Tool)
Result = TypeVar("Result")


@dataclass(frozen=True)
class Work(Generic[SomeTask, SomeTool, Result]):
    """What workers do; it is sent to those of a cluster."""

    tool: Callable[[], SomeTool]  # makes what one worker needs, for one game after the other
    do: Callable[[SomeTask, SomeTool], Result]
    # whether results come in the order of the tasks; else in that in which they end
    in_order: bool = False

    def alone(self, task: SomeTask) -> Result:
        """Do a task with a tool of its own."""
        tool = self.tool()
        try:
            return self.do(task, tool)
        finally:
            tool.close(at_once=True)


def workers_for(
    work: Work[SomeTask, SomeTool, Result], workers: int | None = None, scheduler: str | None = None
) -> Workers[SomeTask, SomeTool, Result]:
    """The workers for ``workers`` games at a time (None: 1, or the number of the cluster's threads).

    ``scheduler`` is the address of the scheduler of a running dask cluster; None: this process works. Raises
    MatchError: a scheduler is named and dask is not installed, or there is no such scheduler, or it has no workers.
    """
    threads.games_at_a_time = workers or 1
    return Workers(work, workers or 1) if scheduler is None else ClusterWorkers(work, workers, scheduler)


class Workers(Generic[SomeTask, SomeTool, Result]):
    """Threads of this process; a single one is the caller's."""

    def __init__(self, work: Work[SomeTask, SomeTool, Result], at_once: int) -> None:
        self._work, self._at_once = work, at_once
        self._tools: list[SomeTool] = []
        self._idle: list[SomeTool] = []
        self._playing: list[Future[Result]] = []

    def results(self, tasks: Iterator[SomeTask]) -> Iterator[Result]:
        """Do the tasks."""
        if self._at_once == 1:
            yield from map(self._do, tasks)
            return
        with ThreadPoolExecutor(self._at_once) as threads:
            yield from self._from(threads, self._do, tasks)

    def close(self) -> None:
        """End the games and their engines at once."""
        while True:
            for tool in self._tools:
                tool.close(at_once=True)
            if not wait(self._playing, timeout=0.05).not_done:
                return

    def _from(
        self, executor: Executor, do: Callable[[SomeTask], Result], tasks: Iterator[SomeTask]
    ) -> Iterator[Result]:
        def submit(some: Iterator[SomeTask]) -> None:
            self._playing.extend(executor.submit(do, task) for task in some)

        try:
            # In order, a few more wait, so that nobody is idle until the first one ends.
            submit(islice(tasks, self._at_once * (2 if self._work.in_order else 1)))
            while self._playing:
                watched = self._playing[: 1 if self._work.in_order else None]
                # Not for ever: a signal that reaches another thread does not wake this one, which has to act on it.
                for future in wait(watched, _LOOK_S, FIRST_COMPLETED).done:
                    self._playing.remove(future)
                    result = self._result(future)
                    submit(islice(tasks, 1))
                    yield result
        finally:
            self.close()

    def _result(self, future: Future[Result]) -> Result:
        return future.result()

    def _do(self, task: SomeTask) -> Result:
        try:
            tool = self._idle.pop()  # in one step: several threads come here at once
        except IndexError:
            tool = self._work.tool()
            self._tools.append(tool)
        result = self._work.do(task, tool)
        self._idle.append(tool)
        return result


class ClusterWorkers(Workers[SomeTask, SomeTool, Result]):
    """The workers of a running ``dask.distributed`` cluster; each game starts its processes and ends them."""

    def __init__(self, work: Work[SomeTask, SomeTool, Result], workers: int | None, scheduler: str) -> None:
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
                f"tls://host:8786 ({(str(error) or type(error).__name__).splitlines()[0][:200]})"
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
        super().__init__(work, workers or max(1, sum(self._client.nthreads().values())))

    def results(self, tasks: Iterator[SomeTask]) -> Iterator[Result]:
        return self._from(self._client.get_executor(pure=False), self._work.alone, tasks)

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self._client.close(timeout=2)

    def _result(self, future: Future[Result]) -> Result:
        from distributed import KilledWorker  # dask itself has tried the game with other workers

        try:
            return future.result()
        except (KilledWorker, CancelledError, TimeoutError) as error:
            raise MatchError(
                f"a game's worker was lost ({type(error).__name__}); the same command goes on from there"
            ) from None
        except ImportError as error:
            raise MatchError(
                f"a worker can't work: {error}; expected klss, the same version, wherever workers run"
            ) from None

"""Local workers: child processes that play the games of a match, each at the end of a pipe.

There is no port and no named pipe, so only this process can give them work. If a worker dies, the one that replaces it
plays its game again. The workers end with this process, however that ends (:mod:`uci_bridge.child_processes`).
"""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import pickle
import signal
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import cast

from uci_bridge.child_processes import guard
from uci_bridge.match.engines import Engines, Setup
from uci_bridge.match.files import MatchError
from uci_bridge.match.game import play_game
from uci_bridge.match.task import GameResult, GameTask

MOST_DEATHS = 50
"""Most deaths of workers during one game; beyond that the game itself is taken to kill them."""

_END_S = 5.0


@dataclass
class _Worker:
    """A process, our end of its pipe, and the game that it plays."""

    process: BaseProcess
    pipe: Connection
    task: GameTask
    deaths: int

    def end(self) -> None:
        """Kill it; the guard of its engines ends them."""
        self.process.kill()
        self.process.join(_END_S)
        assert self.process.pid is not None
        guard.tell("-", self.process.pid)
        self.pipe.close()


class LocalWorkers:
    """At most ``workers`` processes; they are started as games are handed out."""

    def __init__(self, setup: Setup, workers: int) -> None:
        self._setup = setup
        self._most = workers
        self._playing: dict[Connection, _Worker] = {}

    def results(self, tasks: Iterator[GameTask]) -> Iterator[GameResult]:
        for _, task in zip(range(self._most), tasks, strict=False):
            self._start(task)
        while self._playing:
            for ready in wait(list(self._playing)):
                worker = self._playing.pop(cast(Connection, ready))  # of another class on Windows
                try:
                    result = worker.pipe.recv()
                except (EOFError, OSError):
                    worker.end()
                    if worker.deaths >= MOST_DEATHS:
                        raise MatchError(
                            f"game {worker.task.game}: its worker was lost {MOST_DEATHS + 1} times; the same command "
                            "goes on from there"
                        ) from None
                    self._start(worker.task, worker.deaths + 1)
                    continue
                if isinstance(result, Exception):
                    worker.end()
                    raise result
                following = next(tasks, None)
                if following is None:
                    worker.end()
                else:
                    self._hand(worker, following)
                yield result

    def close(self) -> None:
        while self._playing:
            self._playing.popitem()[1].end()

    def _start(self, task: GameTask, deaths: int = 0) -> None:
        context = multiprocessing.get_context("spawn")  # a fork would take our threads' locks along
        ours, its = context.Pipe()
        process = context.Process(target=_work, args=(its, self._setup), daemon=True)
        with _no_interrupt():
            process.start()
        assert process.pid is not None
        guard.tell("+", process.pid)  # while it loads, for seconds, it would not notice the end of its pipe
        its.close()  # so the process has the only copy: when it ends, our end reports that
        self._hand(_Worker(process, ours, task, deaths), task, deaths)

    def _hand(self, worker: _Worker, task: GameTask, deaths: int = 0) -> None:
        worker.task, worker.deaths = task, deaths
        self._playing[worker.pipe] = worker
        with contextlib.suppress(OSError):  # it is gone already: ``results`` finds that by the pipe
            worker.pipe.send(task)


@contextlib.contextmanager
def _no_interrupt() -> Iterator[None]:
    """Delay Ctrl-C in this thread until the block ends; a process started in it inherits that, so that it is not
    interrupted before it has set its own handler.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # before: its first start would unblock interrupts again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# ----------------------------------------------------------------------------------------------------------------------
# in a worker


def _work(pipe: Connection, setup: Setup) -> None:
    """Play the games that come, until the pipe or the process at its other end is gone."""
    # Signals of the terminal are for the process that started the match. A handler instead of SIG_IGN, which engines
    # would inherit.
    for name in {"SIGINT", "SIGHUP"} & {*dir(signal)}:
        signal.signal(getattr(signal, name), lambda *_: None)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    logging.getLogger("uci_bridge").setLevel(logging.ERROR)  # an engine's faults are in its game's line
    engines: Engines | None = None
    while True:
        try:
            task = pipe.recv()
        except EOFError:
            return
        try:
            engines = engines or Engines(setup)
            result: GameResult | Exception = play_game(setup, task, engines)
        except Exception as error:
            result = _as_sent(error)
        pipe.send(result)


def _as_sent(error: Exception) -> Exception:
    """The error with its traceback as a note; if it can't be pickled, a RuntimeError with the traceback as text."""
    trace = "".join(traceback.format_exception(error))
    error.add_note(f"in a worker:\n{trace}")
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"in a worker:\n{trace}")
    return error

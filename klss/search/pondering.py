"""The opponent's time: the last search goes on in a thread, below the action that was played, until it is stopped.

Player 0 has moved. The strategy at the roots stays as it was, the whole mixture from which the move was drawn: it
is that which player 1 has to reckon with, and pinned to the one action the plans below would be made for an opponent
who was shown it. Growth is wanted below the action that was played only, and both players' plans follow it, so that
the next subgame begins with more nodes, and with a strategy and alternate values that have seen them.

Limits: one thread, which never asks for the second one (:mod:`klss.support.threads`); a few times the last
search's nodes, and no more than the memory that is allowed a search; :data:`LONGEST_S`. One search of a process ponders
at a time: when another one begins, this one ends. It gets no lower priority: a
thread that waits for a busy core would keep its stopper waiting.

Threads: from its start until :meth:`Pondering.stop` has returned the trunk is the thread's; nobody else reads or writes
it, or what the search keeps of it. What goes wrong in the thread is raised by ``stop``.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable

from klss.search.budget import Budget
from klss.support.threads import alone

__all__ = ["LONGEST_S", "Meanwhile", "Pondering"]

LONGEST_S = 60.0
"""Most seconds of pondering: after that the opponent may have left."""

_AT_ONCE_S = 0.04
"""Seconds that always seem to be left, so that each step between two checks of the budget is planned for less."""


class Meanwhile(Budget):
    """A budget that lasts until :attr:`over` is set; until then :meth:`left` always gives the same short time, so that
    each step is planned to end soon.
    """

    def __init__(self) -> None:
        super().__init__(seconds=_AT_ONCE_S)
        self.over = False

    def left(self) -> float:
        """See :class:`klss.search.budget.Budget`."""
        return 0.0 if self.over or self.elapsed() >= LONGEST_S else _AT_ONCE_S


class Pondering:
    """Work that goes on in a thread until it's stopped.

    Parameters
    ----------
    work : callable
        Looks at the budget often, and returns soon after that is over.
    """

    def __init__(self, work: Callable[[Budget], object]) -> None:
        self._budget = Meanwhile()
        self._work = work
        self._error: BaseException | None = None
        # A daemon, so that a pondering that is never stopped does not keep the process; the exit stops it too.
        self._thread = threading.Thread(target=self._run, name="ponders", daemon=True)
        with _changing:
            global _at_work
            if _at_work is not None:
                _at_work.halt()
            _at_work = self
            self._thread.start()

    def _run(self) -> None:
        try:
            with alone():
                self._work(self._budget)
        except BaseException as error:
            self._error = error

    def halt(self) -> None:
        """Stop; what went wrong is kept for :meth:`stop`."""
        self._budget.over = True
        self._thread.join()

    def stop(self) -> None:
        """Stop, which takes some milliseconds, and raise what went wrong, once."""
        global _at_work
        self.halt()
        with _changing:
            if _at_work is self:
                _at_work = None
        error, self._error = self._error, None
        if error is not None:
            raise error

    @staticmethod
    def halt_all() -> None:
        """Stop whatever ponders in this process, when the cores are needed or the process ends."""
        with _changing:
            if _at_work is not None:
                _at_work.halt()


_changing = threading.Lock()
_at_work: Pondering | None = None
"""The pondering that is at work in this process; read and written under the lock."""

atexit.register(Pondering.halt_all)

"""Search in the opponent's time: the last search goes on in a thread, below the action played, until it is stopped.

Player 0 has moved. The strategy at the roots stays fixed to the whole mixture from which the move was drawn, because
that mixture is all that player 1 can know; if it were fixed to the action played, the plans below would assume an
opponent who was shown the action. The trunk grows only below the action played, and both players' plans follow, so the
next subgame begins with more nodes and with a strategy and alternate values computed on them.

Limits: one thread, which never asks for the second one (:mod:`klss.support.threads`); a few times the last search's
nodes, and no more memory than a search may use; :data:`LONGEST_S`. One search in a process ponders at a time: when
another begins, this one ends. The thread has no lower priority, because a thread that waits for a busy core would keep
the thread that stops it waiting.

Threads: from the start until :meth:`Pondering.stop` has returned, the trunk belongs to the pondering thread; no other
thread reads or writes it, or the search's state on it. An error in the thread is raised by ``stop``.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable

from klss.search.budget import Budget
from klss.support.threads import alone

LONGEST_S = 60.0
"""Most seconds of pondering: after that the opponent may have left."""

_AT_ONCE_S = 0.04
"""Seconds that :class:`Meanwhile` always reports as left."""


class Meanwhile(Budget):
    """A budget that lasts until :attr:`over` is set, or :data:`LONGEST_S`. Until then :meth:`left` always returns the
    same short time, so that each step between two checks of the budget is planned to end soon.
    """

    def __init__(self) -> None:
        super().__init__(seconds=_AT_ONCE_S)
        self.over = False

    def left(self) -> float:
        return 0.0 if self.over or self.elapsed() >= LONGEST_S else _AT_ONCE_S


class Pondering:
    """``work`` that goes on in a thread until it's stopped: it checks its budget often, and returns soon after."""

    def __init__(self, work: Callable[[Budget], object]) -> None:
        self._budget = Meanwhile()
        self._work = work
        self._error: BaseException | None = None
        # A daemon, so that pondering that is never stopped does not keep the process alive; atexit stops it too.
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
        """Stop; an error is kept for :meth:`stop`."""
        self._budget.over = True
        self._thread.join()

    def stop(self) -> None:
        """Stop, which takes some milliseconds, and raise an error of the thread, once."""
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
        """Stop any pondering in this process, when its core is needed or the process ends."""
        with _changing:
            if _at_work is not None:
                _at_work.halt()


_changing = threading.Lock()
_at_work: Pondering | None = None
"""The pondering at work in this process; read and written under the lock."""

atexit.register(Pondering.halt_all)

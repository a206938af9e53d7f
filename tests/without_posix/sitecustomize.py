"""A system without POSIX, as far as Linux can play one: with this folder on ``PYTHONPATH`` a Python starts so.

What Windows lacks is taken away: modules, functions of ``os`` and ``signal``, loops that take signals, ``select`` on
pipes, ``/proc`` and the C library. What it has instead of file locks, ``msvcrt``, is there. The standard library keeps
what it uses itself.
"""

import asyncio
import asyncio.unix_events
import builtins
import ctypes
import fcntl
import io
import multiprocessing.popen_spawn_posix
import multiprocessing.resource_tracker
import os
import pathlib
import select
import signal
import stat
import subprocess
import sys
import types

import platformdirs.unix  # noqa: F401 (chosen by the name of the platform, which stays)
import psutil

MODULES = ("fcntl", "grp", "pwd", "pty", "readline", "resource", "syslog", "termios", "tty")
OF_OS = (
    "fork", "forkpty", "getegid", "geteuid", "getgid", "getpgid", "getpgrp", "getsid", "getuid", "killpg", "nice",
    "setpgid", "setsid", "sysconf", "tcgetpgrp", "tcsetpgrp", "wait", "wait3", "wait4", "waitid", "P_PID",
    "WEXITED", "WNOHANG", "WNOWAIT", "CLD_EXITED", "sched_getaffinity", "fchmod", "fchown", "getloadavg",
    "set_blocking",
)  # fmt: skip
OF_SIGNAL = (
    "SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGSTOP", "SIGTSTP", "SIGUSR1", "SIGUSR2",
    "alarm", "setitimer", "ITIMER_REAL", "pthread_kill", "pthread_sigmask", "SIG_BLOCK", "SIG_SETMASK", "SIG_UNBLOCK",
)  # fmt: skip


def _locking(descriptor: int, mode: int, length: int) -> None:
    """``msvcrt.locking``, by a lock on the whole file."""
    assert mode == 2 and length > 0
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _no_signals(*_: object) -> None:
    raise NotImplementedError


def _no_pipes(files: "list[object]") -> None:
    for each in files:
        number = each if isinstance(each, int) else each.fileno()  # type: ignore[attr-defined]
        if not stat.S_ISSOCK(os.fstat(number).st_mode):
            raise OSError(10038, "An operation was attempted on something that is not a socket")


def _missing(path: object) -> None:
    if isinstance(path, str | os.PathLike) and os.fspath(path).startswith("/proc/"):  # type: ignore[arg-type]
        raise FileNotFoundError(2, "No such file or directory", os.fspath(path))  # type: ignore[arg-type]


def _hide() -> None:
    # Modules of the standard library that stand on these functions go on with the whole of them.
    whole = types.ModuleType("signal")
    vars(whole).update(vars(signal))
    for module in (subprocess, multiprocessing.popen_fork, multiprocessing.resource_tracker, multiprocessing.util):
        if hasattr(module, "signal"):
            module.signal = whole
    whole_os = types.ModuleType("os")
    vars(whole_os).update(vars(os))
    for module in (subprocess, multiprocessing.popen_fork, asyncio.unix_events, asyncio.base_subprocess):
        if hasattr(module, "os"):
            module.os = whole_os
    for name in MODULES:
        sys.modules[name] = None  # type: ignore[assignment]
    for name in OF_OS:
        if hasattr(os, name):
            delattr(os, name)
    for name in OF_SIGNAL:
        if hasattr(signal, name):
            delattr(signal, name)
    sys.modules["msvcrt"] = types.ModuleType("msvcrt")
    vars(sys.modules["msvcrt"]).update(LK_NBLCK=2, locking=_locking)
    asyncio.unix_events._UnixSelectorEventLoop.add_signal_handler = _no_signals  # type: ignore[assignment]
    _wrap()


def _wrap() -> None:
    """Have functions fail where they would."""
    selected, opened, glob, library = select.select, io.open, pathlib.Path.glob, ctypes.CDLL

    def select_sockets(read, write, failed, *rest):  # type: ignore[no-untyped-def]
        _no_pipes([*read, *write])
        return selected(read, write, failed, *rest)

    def open_elsewhere(file, *rest, **named):  # type: ignore[no-untyped-def]
        _missing(file)
        return opened(file, *rest, **named)

    def glob_elsewhere(path, pattern):  # type: ignore[no-untyped-def]
        return iter(()) if str(path) == "/proc" else glob(path, pattern)

    def other_library(name, *rest, **named):  # type: ignore[no-untyped-def]
        return library(name, *rest, **named) if name is not None else types.SimpleNamespace()

    # psutil was chosen for Linux by the name too, and reads /proc.
    vars(psutil._common)["open"] = vars(psutil._pslinux)["open"] = opened
    psutil.LINUX = False
    select.select = select_sockets
    builtins.open = io.open = open_elsewhere
    pathlib.Path.glob = glob_elsewhere  # type: ignore[method-assign]
    ctypes.CDLL = other_library  # type: ignore[misc,assignment]


_hide()

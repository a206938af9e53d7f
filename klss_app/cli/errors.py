"""The errors of commands, which ``main`` prints as one line."""

from __future__ import annotations


class FailedError(Exception):
    """The command ran and failed; the message becomes the one line on stderr."""

    exit_code = 1


class UsageError(FailedError):
    """Bad input on the command line. The message says what, got, expected."""

    exit_code = 2

"""The errors of commands, which ``main`` prints as one line."""

from __future__ import annotations


class CliError(Exception):
    """Base of the front door's errors: the message becomes the one line on stderr."""

    exit_code = 1


class UsageError(CliError):
    """Bad input on the command line. The message says what, got, expected."""

    exit_code = 2


class FailedError(CliError):
    """The command ran and failed."""

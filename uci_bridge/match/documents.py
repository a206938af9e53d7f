"""The head of every experiment's JSON, and the writing of such files: whole or not at all, in strict JSON.

No host and no path is in them.
"""

from __future__ import annotations

import importlib.metadata
import json
import math
import platform
import re
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import klss
from klss.support.text import Document
from klss.support.whole_file import write_whole
from uci_bridge.errors import UciBridgeError

_LINE = 120


class NoCommitError(UciBridgeError, RuntimeError):
    """Results can't be traced to a commit."""


def head(experiment: str, *packages: str) -> Document:
    """The first entries of an experiment's document; ``packages``: those that its figures depend on, besides klss.

    ``modified`` is there if the code differs from the commit.

    Raises
    ------
    NoCommitError
        The code that runs is not a clone's.
    """
    found = commit()
    if found is None:
        raise NoCommitError("results name the commit that made them; run the experiment in a git clone of klss")
    return {
        "experiment": experiment,
        "created": datetime.now(UTC).date().isoformat(),  # such as 2026-11-21
        "commit": found,
        **({"modified": True} if _git("status", "--porcelain", "--untracked-files=no", "--", "*.py") else {}),
        "versions": package_versions(*packages),
    }


def package_versions(*packages: str) -> dict[str, str | None]:
    """Versions of klss, of Python and of ``packages``; None where a package is not installed."""
    found: dict[str, str | None] = {"klss": klss.__version__, "python": platform.python_version()}
    for package in packages:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            found[package] = None
    return found


def commit() -> str | None:
    """The commit of the source tree that runs; None outside of one."""
    return _git("rev-parse", "HEAD") or None


def _git(*arguments: str) -> str:
    """The output of git in the source tree that runs; empty if that is no clone."""
    root = Path(klss.__file__).resolve().parents[1]
    if not (root / ".git").exists():
        return ""
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def write_document(path: Path, document: Mapping[str, object]) -> None:
    """Write JSON whole or not at all, with plain lists on one line, and infinite or NaN floats as text."""
    text = json.dumps(_spoken(document), indent=1, allow_nan=False)
    # Brackets in strings end no list, and JSON has line breaks only between values: so no string is changed.
    text = re.sub(r'([\[{])\n(?:"(?:\\.|[^"\\])*+"|[^\[\]{}"]++)*+[\]}]', _on_one_line, text)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text + "\n")


def _on_one_line(found: re.Match[str]) -> str:
    line = re.sub(r"\n *", " ", found[0])
    line = f"{line[0]}{line[1:-1].strip()}{line[-1]}"
    return line if len(line) < _LINE or line[0] == "[" else found[0]


def _spoken(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {key: _spoken(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_spoken(item) for item in value]
    return value

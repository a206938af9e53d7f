"""Whether a process lives."""

from __future__ import annotations

from pathlib import Path

__all__ = ["is_alive"]


def is_alive(pid: int) -> bool:
    """A zombie, which waits for somebody to ask after it, does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False

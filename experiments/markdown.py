"""Text wrapped to the width of our pages."""

from __future__ import annotations

import textwrap

__all__ = ["wrapped"]


def wrapped(text: str) -> list[str]:
    """``text`` in lines of 120 columns; no word is broken."""
    return textwrap.wrap(text, 120, break_long_words=False, break_on_hyphens=False)

"""What is kept of an engine's diagnostics."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from uci_bridge.protocol.codec import MAX_DEPTH, fit_to_keep

WORDS = st.text(st.characters(), max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)


def depth(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(depth, inner), default=0)


@settings(max_examples=50, deadline=None)
@given(st.dictionaries(WORDS, VALUES, max_size=3))
def test_what_is_kept_is_strict_json_within_bounds_and_is_kept_as_it_is_the_next_time(said: dict[str, Any]) -> None:
    kept = fit_to_keep(said)
    text = json.dumps(kept, allow_nan=False)
    assert json.loads(text) == kept == fit_to_keep(kept)
    assert depth(kept) <= MAX_DEPTH

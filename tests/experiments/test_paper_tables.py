"""The page of the paper's tables."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("pyspiel")

from experiments import paper_tables


def test_the_page_is_what_the_results_say() -> None:
    result = json.loads(paper_tables.RESULTS.read_text())
    assert paper_tables.PAGE.read_text(encoding="utf-8") == paper_tables.render(result)

"""The study of methods: resumed where it stopped, and rendered into the page as it stands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("pyspiel")

from experiments import methods, paper_tables


@pytest.mark.slow
def test_a_run_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "methods.json"
    monkeypatch.setattr(methods, "GAMES", {"kuhn": "kuhn"})
    monkeypatch.setattr(methods, "GADGETS", ("maxmargin", "resolve-refined"))
    run = ["measure", "--results", str(path)]
    assert methods.main([*run, "--minutes", "0"]) == 0
    assert json.loads(path.read_text())["samples"]["rows"] == []
    assert methods.main(run) == 0
    document = json.loads(path.read_text())
    rows = document["samples"]["rows"]
    assert len(rows) == 2 * 2 * 2 * len(methods.METHODS) == len({tuple(row[:5]) for row in rows})
    assert methods.main(run) == 0
    assert json.loads(path.read_text())["samples"]["rows"] == rows
    lines = methods.section(document | {"table_1": {"rows": [["kuhn", "maxmargin", 0.0015, 6, 0.1]]}})
    assert "| kuhn | 0.0015 | 0.0015 |" in lines


PAGE = Path(__file__).resolve().parents[2] / "docs" / "tables.md"


def test_safe_methods_never_rose_in_the_study() -> None:
    rows = json.loads(methods.RESULTS.read_text())["samples"]["rows"]
    for _, _, _, method, gadget, before, after, _, _ in rows:
        if method in ("safe-1-klss", "inf-kluss") and "reach" not in gadget:
            assert after <= before + 1e-6


def test_the_page_is_what_the_results_say() -> None:
    result, of_methods = (json.loads(path.read_text()) for path in (paper_tables.RESULTS, methods.RESULTS))
    assert PAGE.read_text(encoding="utf-8") == paper_tables.render(result, of_methods)

"""The pages' and modules' examples are run as they stand."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["own_game.md"])
def test_every_example_of_the_page_runs(page: str) -> None:
    failed, tried = doctest.testfile(str(ROOT / "docs" / page), module_relative=False)
    assert tried > 0
    assert failed == 0


@pytest.mark.parametrize("name", ["klss.game", "klss.tables"])
def test_every_example_of_the_module_runs(name: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert tried > 0
    assert failed == 0

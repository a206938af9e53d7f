"""The pages' examples are run as they stand; the modules' are by ``tests/test_doctests.py``."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["docs/own_game.md"])
def test_every_example_of_the_page_runs(page: str) -> None:
    failed, tried = doctest.testfile(str(ROOT / page), module_relative=False)
    assert tried > 0
    assert failed == 0

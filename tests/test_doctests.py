"""Every example in every module does what it says."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = [path.parent.name for path in sorted(ROOT.glob("*/__init__.py"))]
MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for package in PACKAGES
    for path in sorted((ROOT / package).rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


def test_there_are_packages_and_examples() -> None:
    assert {"klss", "darkchess", "uci_bridge"} <= set(PACKAGES)
    assert len(MODULES) > 20


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_a_module_do_what_it_says(name: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert tried > 0
    assert failed == 0

"""Every example in every module, and in README, does what it says."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for init in sorted(ROOT.glob("*/__init__.py"))
    for path in sorted(init.parent.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", ["README.md", *MODULES])
def test_examples_do_what_they_say(name: str) -> None:
    if name.endswith(".md"):
        failed, tried = doctest.testfile(str(ROOT / name), module_relative=False)
    else:
        failed, tried = doctest.testmod(importlib.import_module(name))
    assert tried > 0
    assert failed == 0

"""A package's docstring is a map: its reading order names each of its modules, and nothing else."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("klss", "darkchess", "uci_bridge", "klss_app", "experiments")
ROOMS = [init.parent for package in PACKAGES for init in sorted((ROOT / package).rglob("__init__.py"))]

_MAP = re.compile(r"^(?:Reading order|Rooms|Commands)\b.*?(?=\n\n|\Z)", re.DOTALL | re.MULTILINE)


def modules(room: Path) -> set[str]:
    """Modules and packages in a folder; private ones and ``__main__`` need not be on the map."""
    found = {path.stem for path in room.glob("*.py")} | {path.parent.name for path in room.glob("*/__init__.py")}
    return {name for name in found if not name.startswith("_")}


@pytest.mark.parametrize("room", ROOMS, ids=[str(room.relative_to(ROOT)) for room in ROOMS])
def test_a_package_s_docstring_lists_exactly_its_modules(room: Path) -> None:
    text = ast.get_docstring(ast.parse((room / "__init__.py").read_text(encoding="utf-8"))) or ""
    named = set(re.findall(r"``([a-z]\w*)``", " ".join(_MAP.findall(text))))
    assert named == modules(room)

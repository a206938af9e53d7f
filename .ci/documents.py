"""What code and documents point at is there, and what follows from the code is said in full: prints each fault, and
exits with 1 where there is one. ``make lint`` runs it. The site's build (``make docs``) checks the links once more.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
PACKAGES = ("klss", "darkchess", "uci_bridge", "klss_app", "experiments")
SHIPPED = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
CODE = [*SHIPPED, *sorted((ROOT / "tests").rglob("*.py")), ROOT / "pyproject.toml", ROOT / "Makefile"]
PAGES = [page for folder in (".", "docs", "docs/notebook", *PACKAGES) for page in sorted((ROOT / folder).glob("*.md"))]

LINK = re.compile(r"\]\(([^)\s]+)\)|^\[[^\]]+\]:\s+(\S+)", re.MULTILINE)
OUTSIDE = re.compile(r"\w+://|\.\./\.\./security/")
ROLE = re.compile(r":(?:mod|class|func|meth|data|attr|exc):`~?([\w.]+)`")
RUN = re.compile(rf"python3? -m ((?:{'|'.join(PACKAGES)})\b(?:\.[a-z_]\w*)*)")
MAP = re.compile(r"^(?:Reading order|Rooms|Commands)\b.*?(?=\n\n|\Z)", re.DOTALL | re.MULTILINE)


@cache
def text_of(path: Path) -> str:
    """A file, read once."""
    return path.read_text(encoding="utf-8")


@cache
def prose_of(page: Path) -> str:
    """A page without its blocks and spans of code."""
    text = re.sub(r"^```.*?^```", "", text_of(page), flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]*`", lambda span: re.sub(r"[\[\]()]", "", span[0]), text)


def anchors(page: Path) -> set[str]:
    """What the sections of a page are linked by, as GitHub makes it of their headings."""
    headings = re.findall(
        r"^#+\s+(.+?)\s*$", re.sub(r"^```.*?^```", "", text_of(page), flags=re.S | re.M), re.MULTILINE
    )
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def dead_links() -> Iterator[str]:
    """Links that lead nowhere, and names of documents that there are not."""
    for page in PAGES:
        for target in [target for found in LINK.findall(prose_of(page)) for target in found if target]:
            name, _, anchor = target.partition("#")
            there = (page.parent / name).resolve() if name else page
            if OUTSIDE.match(target):
                continue
            if not there.exists() or not there.is_relative_to(ROOT) or (anchor and anchor not in anchors(there)):
                yield f"{page.relative_to(ROOT)}: a link leads nowhere: {target}"
    for path in [*CODE, *PAGES]:
        for name in re.findall(r"\w[\w./-]*\.md\b", re.sub(r'/ "[\w.-]+\.md"', "", text_of(path))):
            if not any((folder / name).is_file() for folder in (ROOT, path.parent, ROOT / "docs")):
                yield f"{path.relative_to(ROOT)}: there is no {name}"


def missing_names() -> Iterator[str]:
    """Modules that are said to run, and names in docstrings, that can't be found."""
    for path in [*CODE, *(page for page in PAGES if page.name != "CHANGELOG.md")]:
        for name in RUN.findall(text_of(path)):
            if importlib.util.find_spec(name) is None:
                yield f"{path.relative_to(ROOT)}: there is no module {name} to run"
    for path in SHIPPED:
        package = ".".join(path.parent.relative_to(ROOT).parts)
        for name in ROLE.findall(text_of(path)):
            full = package + name if name.startswith(".") else name
            if full.partition(".")[0] in PACKAGES and not resolves(full):
                yield f"{path.relative_to(ROOT)}: there is no {name}"


@cache
def resolves(name: str) -> bool:
    """Whether a dotted name is a module, or something in one; fields of a class count."""
    parts = name.split(".")
    for depth in range(len(parts), 0, -1):
        try:
            there: object = importlib.import_module(".".join(parts[:depth]))
        except ModuleNotFoundError:
            continue
        for part in parts[depth:]:
            if part in getattr(there, "__annotations__", {}):
                return True
            if not hasattr(there, part):
                return False
            there = getattr(there, part)
        return True
    return False


def unlisted() -> Iterator[str]:
    """Modules that a package's map, data that the page of sources, and deviations that the list lacks."""
    sources, listed = text_of(ROOT / "docs" / "sources.md"), text_of(ROOT / "docs" / "search.md")
    for init in (path for path in SHIPPED if path.name == "__init__.py"):
        room = init.parent
        found = {path.stem for path in room.glob("*.py")} | {path.parent.name for path in room.glob("*/__init__.py")}
        told = " ".join(MAP.findall(ast.get_docstring(ast.parse(text_of(init))) or ""))
        if wrong := set(re.findall(r"``([a-z]\w*)``", told)) ^ {name for name in found if not name.startswith("_")}:
            yield f"{init.relative_to(ROOT)}: the map and the folder differ in {', '.join(sorted(wrong))}"
    for path in (path for package in PACKAGES for path in sorted((ROOT / package).glob("**/data/*"))):
        if path.is_file() and f"`{path.relative_to(ROOT)}`" not in sources:
            yield f"docs/sources.md: {path.relative_to(ROOT)} is not on it"
    for path in SHIPPED:
        tells = re.search(r"\bDeviations?\b|Decided here", ast.get_docstring(ast.parse(text_of(path))) or "")
        name = path.relative_to(ROOT)
        if tells and name.parts[0] in ("klss", "darkchess") and f"../{name}" not in listed:
            yield f"docs/search.md: the deviations of {name} are not in its list"


def wrong_commands() -> Iterator[str]:
    """An install by a name that is not ours on any index, and a bench that ``make bench`` leaves out."""
    for path in [*PAGES, *SHIPPED]:
        if re.search(r"pip install ['\"]?klss", text_of(path)):
            yield f"{path.relative_to(ROOT)}: klss is on no index, and anybody could take its name there"
    (loop,) = re.findall(r"for part in ([\w ]+); do", text_of(ROOT / "Makefile"))
    if set(loop.split()) != set(importlib.import_module("klss_app.cli.bench").BENCHES):
        yield "Makefile: make bench does not run every bench"


def unlocked() -> Iterator[str]:
    """Packages that are installed to work here without a hash, or in other versions than the constraints'."""
    project = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]
    constraints = set(re.findall(r"^[\w.-]+==\S+", text_of(ROOT / "constraints.txt"), re.MULTILINE))
    for extra in ("dev", "docs"):
        entries = re.split(r"^(?=[\w.-]+==)", text_of(ROOT / f"requirements-{extra}.txt"), flags=re.MULTILINE)[1:]
        locked = {entry.split()[0] for entry in entries}
        needed = project["optional-dependencies"][extra] + (project["dependencies"] if extra == "dev" else [])
        names = {re.split(r"[\[<>=; ]", line)[0].lower().replace("_", "-") for line in needed}
        unhashed = {entry.split()[0] for entry in entries if not re.search(r"--hash=sha256:[0-9a-f]{64}\b", entry)}
        for wrong in (locked - constraints) | unhashed | (names - {each.split("==")[0] for each in locked}):
            yield f"requirements-{extra}.txt: {wrong} is not locked as in constraints.txt"


if __name__ == "__main__":
    faults = sorted({*dead_links(), *missing_names(), *unlisted(), *wrong_commands(), *unlocked()})
    print("".join(f"{fault}\n" for fault in faults), end="")
    sys.exit(bool(faults))

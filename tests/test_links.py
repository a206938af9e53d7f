"""What code and documents point at is there: documents and their sections, links, commands, names in docstrings."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = tuple(sorted(path.parent.name for path in ROOT.glob("*/__init__.py")))
SHIPPED = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
CODE = [*SHIPPED, *sorted((ROOT / "tests").rglob("*.py")), ROOT / "pyproject.toml", ROOT / "Makefile"]
PAGES = [page for folder in (".", "docs", "docs/notebook", *PACKAGES) for page in sorted((ROOT / folder).glob("*.md"))]

NAMED = re.compile(r"\w[\w./-]*\.md\b")
CITED = re.compile(r'(\w[\w./-]*\.md),?\s+(?:#\s+)?"([^"]+)"')
LINK = re.compile(r"\]\(([^)\s]+)\)|^\[[^\]]+\]:\s+(\S+)", re.MULTILINE)
OUTSIDE = re.compile(r"\w+://|\.\./\.\./security/")
LABEL = re.compile(r"\[[^\]]+\]\[([^\]]+)\]|\[(\w+)\](?![(:\[\w])")
ROLE = re.compile(r":(?:mod|class|func|meth|data|attr|exc):`~?([\w.]+)`")
RUN = re.compile(rf"python3? -m ((?:{'|'.join(PACKAGES)})\b(?:\.[a-z_]\w*)*)")


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT))


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def names_in(path: Path) -> list[str]:
    """Documents that are named; not those whose path is put together, which fails where it is opened."""
    return NAMED.findall(re.sub(r'/ "[\w.-]+\.md"', "", text_of(path)))


@cache
def prose_of(page: Path) -> str:
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", text_of(page), flags=re.DOTALL | re.MULTILINE)


@cache
def headings(page: Path) -> list[str]:
    return re.findall(r"^#+\s+(.+?)\s*$", prose_of(page), re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """What the sections of a page are linked by, as GitHub makes it of their headings."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings(page)}


def links(page: Path) -> list[str]:
    """Targets within the repository; brackets in spans of code are no links, and what leads out of it is its host's."""
    prose = re.sub(r"`[^`\n]*`", "code", prose_of(page))
    return [target for found in LINK.findall(prose) for target in found if target and not OUTSIDE.match(target)]


def page_named(name: str, citing: Path) -> Path | None:
    """The page that ``name`` stands for in ``citing``: from the root, beside it, or of the manual."""
    return next((path for path in (ROOT / name, citing.parent / name, ROOT / "docs" / name) if path.is_file()), None)


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def test_every_document_that_is_named_exists() -> None:
    assert {"README.md", "docs/rules.md"} <= {name for path in CODE for name in names_in(path)}
    named = [(path, name) for path in [*CODE, *PAGES] for name in names_in(path)]
    assert [(shown(path), name) for path, name in named if page_named(name, path) is None] == []


def test_every_section_that_is_cited_is_in_its_document() -> None:
    cited = [(path, *found) for path in [*CODE, *PAGES] for found in CITED.findall(text_of(path))]
    assert len(cited) > 5
    missing = [
        (shown(path), name, section)
        for path, name, section in cited
        if re.sub(r"\s+(#\s+)?", " ", section) not in headings(page_named(name, path) or ROOT / "README.md")
    ]
    assert missing == []


def test_every_relative_link_leads_somewhere() -> None:
    dead = []
    for page in PAGES:
        for target in links(page):
            name, _, anchor = target.partition("#")
            there = (page.parent / name).resolve() if name else page
            if not there.exists() or not there.is_relative_to(ROOT) or (anchor and anchor not in anchors(there)):
                dead.append((shown(page), target))
    assert dead == []


def test_every_label_of_a_link_is_defined_and_used() -> None:
    for page in PAGES:
        defined = set(re.findall(r"^\[([^\]]+)\]:", prose_of(page), re.MULTILINE))
        if defined:
            prose = re.sub(r"`[^`\n]*`", "code", prose_of(page))
            assert {label for pair in LABEL.findall(prose) for label in pair if label} == defined, shown(page)


def test_every_module_that_is_said_to_run_is_there() -> None:
    # The changelog also tells of modules that were there once.
    pages = [page for page in PAGES if page.name != "CHANGELOG.md"]
    said = {name: shown(path) for path in [*CODE, *pages] for name in RUN.findall(text_of(path))}
    said |= dict.fromkeys(re.findall(r"\$\(PY\) -m (\w+(?:\.\w+)*)", text_of(ROOT / "Makefile")), "Makefile")
    assert {"experiments.series", "pytest"} <= said.keys()
    said.pop("mkdocs")  # `make docs` installs it itself
    assert {name: where for name, where in said.items() if importlib.util.find_spec(name) is None} == {}


def test_every_name_of_ours_in_a_docstring_can_be_imported() -> None:
    names = {name: shown(path) for path in SHIPPED for name in references(path)}
    assert len(names) > 100
    assert {name: where for name, where in names.items() if not resolves(name)} == {}


def references(path: Path) -> Iterator[str]:
    """The names of ours that a module's docstrings refer to, in full."""
    package = module_of(path) if path.name == "__init__.py" else module_of(path).rpartition(".")[0]
    for name in ROLE.findall(text_of(path)):
        if name.startswith("."):
            yield package + name
        elif name.partition(".")[0] in PACKAGES:
            yield name


def resolves(name: str) -> bool:
    """Whether a dotted name is a module, or something in one; fields of a class count."""
    parts = name.split(".")
    depth = next(depth for depth in range(len(parts), 0, -1) if is_module(".".join(parts[:depth])))
    there: object = importlib.import_module(".".join(parts[:depth]))
    for part in parts[depth:]:
        if part in getattr(there, "__annotations__", {}):
            return True
        if not hasattr(there, part):
            return False
        there = getattr(there, part)
    return True


def is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # what stands before the last dot is no package
        return False


def test_every_file_of_data_that_is_shipped_is_on_the_page_of_sources() -> None:
    page = text_of(ROOT / "docs" / "sources.md")
    data = [path for package in PACKAGES for path in sorted((ROOT / package).glob("**/data/*")) if path.is_file()]
    assert len(data) > 10
    assert [shown(path) for path in data if f"`{shown(path)}`" not in page] == []


def test_every_module_that_tells_of_deviations_is_in_the_list() -> None:
    page = ROOT / "docs" / "search.md"
    listed = {(page.parent / target).resolve() for target in links(page)}
    telling = {
        path
        for path in SHIPPED
        if module_of(path).startswith(("klss.", "darkchess."))
        and re.search(r"\bDeviations?\b|Decided here", ast.get_docstring(ast.parse(text_of(path))) or "")
    }
    assert len(telling) > 10
    assert {shown(path) for path in telling - listed} == set()

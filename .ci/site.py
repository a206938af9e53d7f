"""What the site has beyond docs/: pages that follow from the code, and sources that pages point to.

MkDocs loads this as a hook, mkdocstrings as an extension of Griffe.
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import io
import os
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import griffe
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"(\]\(|^\[[^\]]+\]: )([\w./-]+)", re.MULTILINE)
CODE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
ROLE = re.compile(r":\w+:`(~?)([\w.]+)`")
COMMENTED = re.compile(r"((?:^    # .*\n)*)^    (\w+): [^#\n]*(?:# (.*))?$", re.MULTILINE)
EXAMPLE = re.compile(r"^>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)

OUTSIDE = InclusionLevel.NOT_IN_NAV

API = (
    "klss.doors", "klss.theory.game", "klss.theory.equilibrium", "klss.theory.first_order", "klss.theory.policies",
    "klss.paper.subgame",
    "klss.paper.methods", "klss.search.search", "klss.search.model", "klss.search.enumerated", "klss.search.parts",
    "klss.search.compositions", "klss.openspiel.bot", "klss.openspiel.load", "klss.play.kit",
    "klss.play.limits", "darkchess.board.position", "darkchess.evaluation.evaluator", "darkchess.fog.game.referee",
    "darkchess.fog.game.rules", "darkchess.fog.game.view", "darkchess.fog.game.record", "darkchess.fog.game.archive",
    "darkchess.fog.belief.position_set", "darkchess.fog.players.player", "darkchess.fog.players.named_fog_players",
    "darkchess.fog.analysis.analyst", "darkchess.rbc.game.referee", "darkchess.rbc.players.named_rbc_players",
)  # fmt: skip
"""What the page of the API shows: what a program that uses the library imports first."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Put the notebook at the end of the navigation."""
    pages = sorted((ROOT / "docs" / "notebook").glob("*.md"))
    assert config.nav is not None
    config.nav.append({"Notebook": ["notebook/index.md", *(f"notebook/{page.name}" for page in pages)]})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are made, and whatever outside docs/ is pointed to."""
    made = {"commands": commands(), "configurations": configurations(), "api": api()}
    for name, text in made.items():
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    files.append(File.generated(config, "notebook/index.md", content=notebook()))
    waiting = [ROOT / name for name in ("CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "experiments/README.md")]
    waiting += [target for file in files.documentation_pages() if file.abs_src_path
                for target in outside(Path(file.abs_src_path))]  # fmt: skip
    seen = set()
    while waiting:
        path = waiting.pop()
        if path in seen or path.is_relative_to(ROOT / "docs") or not path.is_relative_to(ROOT) or not path.is_file():
            continue
        seen.add(path)
        name = f"source/{path.relative_to(ROOT)}"
        if path.suffix == ".md":
            waiting += outside(path)
            text = path.read_text(encoding="utf-8")
            files.append(File.generated(config, name, content=text))
        elif path.suffix == ".py":
            files.append(File.generated(config, f"{name}.md", content=source(path), inclusion=OUTSIDE))
        else:
            files.append(File.generated(config, name, abs_src_path=str(path)))
    return files


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Name the dialog of the search, which the theme leaves without a name that is read aloud."""
    return output.replace(
        'data-md-component="search" role="dialog"', 'data-md-component="search" role="dialog" aria-label="Search"'
    )


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links that lead out of docs/ to where their targets are shown."""
    name = page.file.src_uri
    if name.endswith(".py.md"):
        return markdown
    here = ROOT / name.removeprefix("source/") if name.startswith("source/") else ROOT / "docs" / name

    def link(match: re.Match[str]) -> str:
        target = resolved(here, match[2])
        if not target.is_relative_to(ROOT):  # of the server that the repository is on
            return f"{match[1]}#"
        if target.is_relative_to(ROOT / "docs"):
            there = str(target.relative_to(ROOT / "docs"))
        else:
            there = f"source/{target.relative_to(ROOT)}" + (".md" if target.suffix == ".py" else "")
        return match[1] + posixpath.relpath(there, posixpath.dirname(name))

    return LINK.sub(link, markdown)


def outside(page: Path) -> list[Path]:
    """What a page points to."""
    prose = CODE.sub("", page.read_text(encoding="utf-8"))
    return [resolved(page, match[2]) for match in LINK.finditer(prose)]


def resolved(page: Path, target: str) -> Path:
    """The file that a page calls ``target``; of a folder the one that says what is in it."""
    path = (page.parent / target).resolve()
    if path.is_dir():
        return path / ("index.md" if path.is_relative_to(ROOT / "docs") else "__init__.py")
    return path


def notebook() -> str:
    """The list of the notebook's pages."""
    pages = sorted((ROOT / "docs" / "notebook").glob("*.md"))
    titles = {page: page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ") for page in pages}
    rows = [f"- [{title}]({page.name})" for page, title in titles.items()]
    return "\n".join(["# Notebook", "", "Results by subject, with the days of the measurements.", "", *rows, ""])


def source(path: Path) -> str:
    """A page that shows a file of code."""
    text = path.read_text(encoding="utf-8")
    return f"---\nsearch:\n  exclude: true\n---\n# `{path.relative_to(ROOT)}`\n\n````python\n{text}````\n"


def commands() -> str:
    """The help of every command, as its parser has it."""
    from klss_app.cli.main import COMMANDS, RBC_COMMANDS

    os.environ["COLUMNS"] = "80"
    parts = ["# Commands", *(f"\n## klss {name}\n\n{shown(name)}" for name in COMMANDS if name != "rbc")]
    return "\n".join([*parts, *(f"\n## klss rbc {name}\n\n{shown('rbc', name)}" for name in RBC_COMMANDS)])


def shown(*command: str) -> str:
    """What ``klss COMMAND --help`` prints."""
    from klss_app.cli.main import main

    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main([*command, "--help"]) == 0
    return f"```text\n{out.getvalue().rstrip()}\n```"


def configurations() -> str:
    """Every field of every kind of configuration: type, default, range, meaning."""
    from darkchess.fog.players.named_fog_players import CONFIGURATIONS as FOG
    from darkchess.rbc.players.named_rbc_players import CONFIGURATIONS as RBC

    parts = ["# Configurations", "", "A field is changed as in `kluss,particles=50`, or in a TOML file."]
    for title, known in (("Fog of War chess", FOG), ("Reconnaissance Blind Chess", RBC)):
        parts += ["", f"## {title}", "", ", ".join(f"`{name}`" for name in known)]
        kinds: dict[type, list[str]] = {}
        for name, each in known.items():
            for part in (each, *(getattr(each, part) for part in each.PARTS)):
                if part is not None:
                    kinds.setdefault(type(part), []).append(name)
        for kind, names in kinds.items():
            of = "all players" if len(names) == len(known) else ", ".join(f"`{name}`" for name in names)
            parts += ["", f"### {kind.__module__}.{kind.__name__}", "", f"Of {of}.", ""]
            parts += ["| field | meaning | type | default | range |", "|---|---|---|---|---|", *fields(kind, known)]
    return "\n".join(parts) + "\n"


def fields(kind: type, known: dict[str, Any]) -> Iterator[str]:
    """The rows of a dataclass's fields; their meanings are the comments above or beside them."""
    meanings: dict[str, str] = {}
    ranges = next(iter(known.values())).RANGES
    for each in filter(dataclasses.is_dataclass, reversed(kind.__mro__)):
        for above, name, beside in COMMENTED.findall(inspect.getsource(each)):
            if text := " ".join(f"{above.replace('#', '')} {beside}".split()):
                meanings[name] = linked(text)
    for field in dataclasses.fields(kind):
        if field.name in ("name", "player", *getattr(kind, "PARTS", ())):
            continue
        default = "" if field.default is dataclasses.MISSING else f"`{field.default}`"
        low, high = ranges.get(field.name, ("", ""))
        within = f"{low} to {high}" if field.name in ranges else ""
        kind_name = str(field.type).replace("|", "\\|")
        meaning = meanings.get(field.name, "")
        yield f"| `{field.name}` | {meaning} | `{kind_name}` | {default} | {within} |"


def api() -> str:
    """The page of the API."""
    return "\n".join(["# API", "", "What is not shown here is in the sources, each with its docstring.", "",
                      *(f"## {name}\n\n::: {name}\n" for name in API)])  # fmt: skip


def linked(text: str) -> str:
    """A docstring's text, with the roles of reStructuredText as links to what the site shows, and code elsewhere."""

    def link(match: re.Match[str]) -> str:
        name = match[2].rpartition(".")[2] if match[1] else match[2]
        return f'<autoref identifier="{match[2]}" optional>`{name}`</autoref>'

    return ROLE.sub(link, text)


class References(griffe.Extension):
    """Docstrings of ours as Markdown."""

    def on_object(self, *, obj: griffe.Object, **rest: Any) -> None:
        """Change the docstring of what was read."""
        if obj.docstring is not None:
            fenced = EXAMPLE.sub(lambda match: f"```pycon\n{match[0]}\n```", obj.docstring.value)
            obj.docstring.value = linked(fenced)

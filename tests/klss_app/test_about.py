"""What is said of the installation, what completes commands in a shell, and what a citation says."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

import klss as package
from klss_app.cli.about import SHELLS
from klss_app.cli.main import COMMANDS, RBC_COMMANDS

ROOT = Path(__file__).resolve().parents[2]

ASK = """source klss.bash
for words in "klss " "klss rbc " "klss track --st" "klss bench " "klss games ga"; do
    read -ra COMP_WORDS <<<"$words"; [[ $words == *" " ]] && COMP_WORDS+=("")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=(); _shtab_klss; echo "${COMPREPLY[@]}"
done"""


def test_the_version_as_json_has_versions_and_cpu(klss: Any) -> None:
    ran = klss("--version", "--json")
    document = json.loads(ran.out)
    assert ran.code == 0 and document["versions"]["klss"] == package.__version__ and document["cpu"]
    assert all(document["versions"][name] for name in ("python", "numpy", "numba", "scipy", "highspy"))


@pytest.mark.parametrize("arguments", [["--version", "--xml"], ["--print-completion"], ["--print-completion", "sh"]])
def test_what_is_asked_wrongly_exits_2_with_one_line(klss: Any, arguments: list[str]) -> None:
    ran = klss(*arguments)
    assert ran.code == 2 and ran.out == "" and ran.err.count("\n") == 1 and "expected" in ran.err


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_commands_flags_and_files(klss: Any, tmp_path: Path) -> None:
    (tmp_path / "klss.bash").write_text(klss("--print-completion", "bash").out)
    (tmp_path / "game.pgn").write_text("")
    done = subprocess.run(["bash", "-c", ASK], cwd=tmp_path, capture_output=True, text=True, timeout=30)
    commands, blind, flags, benches, files = map(str.split, done.stdout.splitlines())
    assert set(commands) >= set(COMMANDS) and set(blind) >= set(RBC_COMMANDS), done.stderr
    assert flags == ["--stream"] and "tracker" in benches and files == ["game.pgn"]


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_is_told_every_command(klss: Any, shell: str) -> None:
    text = klss("--print-completion", shell).out
    assert all(command in text for command in COMMANDS)


def test_the_citation_is_of_this_version() -> None:
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["version"] == package.__version__

"""What another process of the same user can learn from one that has closed itself, and what engines are given."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from uci_bridge.child_processes import engine_environment
from uci_bridge.protocol.engine_process import EngineProcess

ROOT = Path(__file__).resolve().parents[2]
NOBODY = 65534

CLOSED = """
import ctypes, os, sys
from uci_bridge.child_processes import close_to_others
if os.getuid() == 0:
    os.setresuid({nobody}, {nobody}, {nobody})
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # open, as a process that never changed its user is
{close}
print("ready", flush=True); sys.stdin.read()
"""
LOOK = """
import os, sys
if os.getuid() == 0: os.setresuid({nobody}, {nobody}, {nobody})
for what in ("environ", "mem"):
    try: open(f"/proc/{{sys.argv[1]}}/{{what}}", "rb"); print("open")
    except PermissionError: print("closed")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize(("close", "found"), [("", "open"), ("close_to_others()", "closed")])
def test_a_closed_process_shows_its_user_neither_its_environment_nor_its_memory(close: str, found: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", "SECRET": "lip_Secret12"}
    program = CLOSED.format(nobody=NOBODY, close=close)
    with subprocess.Popen(
        [sys.executable, "-c", program], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stdin is not None
        try:
            assert process.stdout.readline() == "ready\n"
            look = [sys.executable, "-c", LOOK.format(nobody=NOBODY), str(process.pid)]
            done = subprocess.run(look, capture_output=True, text=True, timeout=60, check=True)
        finally:
            process.stdin.close()
    environ, memory = done.stdout.split()
    assert environ == found
    assert memory == "closed" or found == "open"  # a system may close every process's memory to all but its parent


def test_an_engine_gets_the_variables_that_programs_need_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KLSS_TOKEN", "lip_Secret12")
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    seen = tmp_path / "seen"
    engine = EngineProcess(["sh", "-c", f"env > {seen}.new; mv {seen}.new {seen}; cat"])
    engine.start()
    try:
        while not seen.exists():
            assert engine.alive
    finally:
        engine.close()
    names = {line.partition("=")[0] for line in seen.read_text().splitlines()} - {"_", "PWD", "OLDPWD", "SHLVL"}
    assert names <= set(engine_environment()) and {"PATH", "LC_ALL"} <= names and "KLSS_TOKEN" not in names

"""From another user of the machine: nothing of a match in progress can be reached, read or written."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).resolve().parents[2]
SILENT = f"cmd:{sys.executable} -S -E {ROOT / 'tests' / 'uci_bridge' / 'foreign_engine.py'} silent"
"""An engine that thinks until it is ended."""

NOBODY = 65534
PATIENCE_S = 60.0

INTRUDER = 'for path; do if [ -r "$path" ] || [ -w "$path" ]; then echo "$path"; fi; done'

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are looked at through Linux's /proc")


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that everybody can look into, unlike pytest's."""
    folder = Path(tempfile.mkdtemp(prefix="klss-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def family(match: subprocess.Popen[bytes], engines: int) -> list[psutil.Process]:
    """The match, its workers and guards, and its engines, once they are there."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        found = [psutil.Process(match.pid), *psutil.Process(match.pid).children(recursive=True)]
        if sum("silent" in " ".join(process.cmdline()[-1:]) for process in found) >= engines:
            return found
        assert match.poll() is None
        time.sleep(0.05)
    raise AssertionError("the engines did not come")


def listening(processes: list[psutil.Process]) -> list[str]:
    """Sockets of these processes that wait for somebody: of the network, and of this machine by name."""
    found = [
        str(connection)
        for process in processes
        for connection in process.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN or not connection.raddr
    ]
    named = {
        line.split()[6]: line for line in Path("/proc/net/unix").read_text().splitlines()[1:] if len(line.split()) > 7
    }
    for process in processes:
        for descriptor in Path(f"/proc/{process.pid}/fd").iterdir():
            try:
                target = os.readlink(descriptor)
            except FileNotFoundError:  # closed since it was listed
                continue
            if target.startswith("socket:[") and target[8:-1] in named:
                found.append(named[target[8:-1]])
    return found


def reached(paths: list[Path]) -> list[str]:
    """Those that another user can read or write; by trying, or where this machine does not let us, by their modes."""
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", INTRUDER, "sh", *map(str, paths)],
            capture_output=True, text=True, check=True, user=NOBODY, group=NOBODY, extra_groups=[], cwd="/",
        )  # fmt: skip
        return done.stdout.splitlines()
    except PermissionError:
        warnings.warn("this user can't become another one: modes were looked at instead", stacklevel=2)
        return [
            str(path)
            for path in paths
            if path.stat().st_mode & 0o006 and all(parent.stat().st_mode & 0o001 for parent in path.parents)
        ]


@pytest.mark.parametrize("workers", [pytest.param("1", marks=pytest.mark.slow), "2"])
def test_nothing_of_a_match_in_progress_can_be_reached_by_another_user(public: Path, workers: str) -> None:
    temporary = public / "tmp"
    temporary.mkdir()
    temporary.chmod(0o1777)
    (public / "control").touch()
    (public / "control").chmod(0o644)
    match = subprocess.Popen(
        [sys.executable, "-m", "klss", "match", SILENT, SILENT, "--time", "600", "--workers", workers, "--out", "m"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=public, umask=0,
        env=os.environ | {"PYTHONPATH": str(ROOT), "TMPDIR": str(temporary)},
    )  # fmt: skip
    try:
        processes = family(match, 2 * int(workers))
        assert not listening(processes)
        written = [Path(file.path) for process in processes for file in process.open_files() if file.mode != "r"]
        assert public / "m" / "lock" in written and (public / "m" / "games.jsonl").exists()
        kept = [*(public / "m").rglob("*"), *temporary.rglob("*"), public / "m"]
        assert not reached([*written, *kept])
        assert not reached([Path(f"/proc/{process.pid}/{what}") for process in processes for what in ("mem", "fd/0")])
    finally:
        match.terminate()
        match.wait(PATIENCE_S)
    assert reached([public / "control"]) == [str(public / "control")]

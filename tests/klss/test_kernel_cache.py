"""The cache of compiled kernels: never stale, and never another user's; as processes find it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
KERNEL = """
from klss.kernel import kernel

@kernel
def twice(number):
    return 2 * number
"""


def ran(folder: Path, code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """What ``python -c code`` says, with modules of ``folder``."""
    known = {key: value for key, value in os.environ.items() if key not in ("KLSS_CACHE_DIR", "NUMBA_DISABLE_JIT")}
    paths = {"PYTHONPATH": f"{folder}{os.pathsep}{ROOT}", "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=known | paths | environment, capture_output=True, text=True, check=True)


TWICE = "import doubling; print(doubling.twice(21))"


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a kernel, and in ``cache`` what it is compiled to."""
    folder = tmp_path_factory.mktemp("kernels")
    (folder / "doubling.py").write_text(KERNEL)
    assert ran(folder, TWICE, KLSS_CACHE_DIR=str(folder / "cache")).stdout == "42\n"
    return folder


@pytest.fixture
def planted(compiled: Path, tmp_path: Path) -> Path:
    """A cache where a fallback is looked for; to read it is to touch the file ``executed``."""
    folder = tmp_path / "tmp" / f"klss-cache-{os.geteuid()}"
    shutil.copytree(compiled / "cache", folder)
    indices = list(folder.rglob("*.nbi"))
    assert indices
    for index in indices:
        index.write_bytes(f"cos\nsystem\n(S'touch {tmp_path}/executed'\ntR.".encode())
    return folder


def opened(folder: Path) -> None:
    folder.chmod(0o777)


def given_away(folder: Path) -> None:
    if os.geteuid() == 0:
        os.chown(folder, 65534, 65534)
    else:  # can't: at least its group may write it
        folder.chmod(0o770)


def linked(folder: Path) -> None:
    elsewhere = folder.with_name("elsewhere")
    folder.rename(elsewhere)
    elsewhere.chmod(0o777)
    folder.symlink_to(elsewhere)


@pytest.mark.parametrize("how", [opened, given_away, linked])
def test_a_cache_that_others_may_write_is_not_read_where_one_s_own_can_t_be_made(
    compiled: Path, planted: Path, tmp_path: Path, how: Callable[[Path], None]
) -> None:
    how(planted)
    (tmp_path / "file").touch()
    found = ran(compiled, TWICE, KLSS_CACHE_DIR=str(tmp_path / "file" / "cache"), TMPDIR=str(planted.parent))
    assert found.stdout == "42\n" and "can be written by others" in found.stderr
    assert not (tmp_path / "executed").exists()
    assert not list(planted.parent.glob("klss-kernels-*"))  # what was made instead is gone


def test_a_cache_that_others_may_write_is_not_read_where_it_is_named(
    compiled: Path, planted: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    places = {"KLSS_CACHE_DIR": str(planted), "TMPDIR": str(tmp_path / "empty")}
    opened(planted)
    found = ran(compiled, TWICE, **places)
    assert found.stdout == "42\n" and "can be written by others" in found.stderr
    assert not (tmp_path / "executed").exists()
    planted.chmod(0o700)
    ran(compiled, TWICE, **places)
    assert (tmp_path / "executed").exists()  # so reading it is what these tests find out

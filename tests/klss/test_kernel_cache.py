"""The cache of compiled kernels: never stale, and never another user's; as processes find it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
KERNEL = """
from klss.support.kernel import kernel

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


@pytest.mark.parametrize("named", [pytest.param(True, marks=pytest.mark.slow), False])
def test_a_cache_that_others_may_write_is_not_read(compiled: Path, planted: Path, tmp_path: Path, named: bool) -> None:
    """Neither where it is named, nor where a fallback is looked for because one's own can't be made."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    places = {"KLSS_CACHE_DIR": str(tmp_path / "file" / "cache"), "TMPDIR": str(planted.parent)}
    if named:
        places = {"KLSS_CACHE_DIR": str(planted), "TMPDIR": str(tmp_path / "empty")}
    planted.chmod(0o777)
    found = ran(compiled, TWICE, **places)
    assert not (tmp_path / "executed").exists()
    assert found.stdout == "42\n" and "can be written by others" in found.stderr
    assert not list(Path(places["TMPDIR"]).glob("klss-kernels-*"))  # what was made instead is gone
    if named:
        planted.chmod(0o700)
        ran(compiled, TWICE, **places)
        assert (tmp_path / "executed").exists()  # so reading it is what this test finds out


PACKAGES = {
    "third/__init__.py": "",
    "third/helpers.py": """
        from klss.support.kernel import kernel

        @kernel(inline="always")
        def step(number):
            return number + 1
        """,
    "third/constants.py": "WIDTH = 1",
    "third/deep/__init__.py": "",
    "third/deep/constants.py": "DEPTH = 1",
    "kernels/__init__.py": "",
    "kernels/near.py": "NEAR = 1",
    "kernels/between.py": "from third.constants import WIDTH\nDOUBLE = 2 * WIDTH",
    **{
        f"kernels/{name}.py": f"""
            from klss.support.kernel import kernel
            {imports}

            @kernel
            def value(number):
                return {value}
            """
        for name, imports, value in (
            ("function", "from third.helpers import step", "step(number)"),
            ("module", "from third import helpers", "helpers.step(number)"),
            ("constant", "from third.constants import (  # )\n                WIDTH,\n            )", "number + WIDTH"),
            ("dotted", "import third.deep.constants as deep", "number + deep.DEPTH"),
            ("relative", "from . import near", "number + near.NEAR"),
            ("transitive", "from .between import DOUBLE", "number + DOUBLE // 2"),
            ("untouched", "", "number + 1"),
        )
    },
}  # fmt: skip
VALUES = """
import importlib

for name in ("function", "module", "constant", "dotted", "relative", "transitive", "untouched"):
    value = importlib.import_module(f"kernels.{name}").value
    print(name, value(0), "loaded" if value.stats.cache_hits else "compiled")
"""


@pytest.mark.slow
def test_an_edit_to_whatever_a_kernel_is_made_of_in_any_package_is_seen_and_the_others_are_not_compiled_again(
    tmp_path: Path,
) -> None:
    def values() -> list[str]:
        return ran(tmp_path, VALUES, KLSS_CACHE_DIR=str(tmp_path / "cache")).stdout.splitlines()

    for name, text in PACKAGES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(textwrap.dedent(text))
    names = [line.split()[0] for line in values()]
    assert len(names) == 7 and values() == [f"{name} 1 loaded" for name in names]
    for name in ("third/helpers.py", "third/constants.py", "third/deep/constants.py", "kernels/near.py"):
        path = tmp_path / name
        path.write_text(path.read_text().replace("1", "7"))
    assert values() == [*(f"{name} 7 compiled" for name in names[:-1]), "untouched 1 loaded"]

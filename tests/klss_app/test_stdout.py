"""What libraries print ends up on stderr, so that documents and protocols stay whole."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from klss_app.cli.main import main
from klss_app.stdout import own_stdout, print_document, release, reserve

NOISY = """
import ctypes, os, subprocess, sys
from klss_app.stdout import own_stdout, print_document, reserve
with own_stdout():
    print("said")
    os.write(1, b"noise of a library\\n")
    ctypes.CDLL(None).puts(b"noise of compiled code")
    ctypes.CDLL(None).fflush(None)
    subprocess.run([sys.executable, "-c", "print('noise of a program')"], check=True)
    reserve()
    print("noise of Python")
    print_document({"document": 1})
os.write(1, b"the descriptor is back\\n")
"""


def test_stdout_is_nobody_else_s_also_for_compiled_code_and_programs() -> None:
    done = subprocess.run([sys.executable, "-c", NOISY], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["said", '{"document": 1}', "the descriptor is back"]
    assert done.stderr.count("noise") == 4


def test_a_command_asked_for_json_prints_one_document_whatever_its_libraries_print(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from darkchess.fog.belief.position_set import PositionSet

    observe = PositionSet.observe

    def noisy(self: PositionSet, *arguments: object, **options: object) -> object:
        print("noise")
        return observe(self, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(PositionSet, "observe", noisy)
    assert main(["track", "--moves", "e4 e5", "--json"]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["moves"] == ["e4", "e5"]
    assert "noise" in shown.err
    # The next command has its stdout again.
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("klss ")


def test_a_stream_that_was_reserved_is_given_back(capsys: pytest.CaptureFixture[str]) -> None:
    stream = reserve()
    assert reserve() is stream
    print("noise")
    print_document([1])
    release()
    release()
    print("said")
    assert capsys.readouterr() == ("[1]\nsaid\n", "noise\n")


def test_the_descriptor_is_given_back(capfd: pytest.CaptureFixture[str]) -> None:
    with own_stdout():
        print("said")
    assert capfd.readouterr().out == "said\n"

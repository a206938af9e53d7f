"""Files of arrays that are none, or mean harm: refused in one line, before anything of size is unpacked."""

from __future__ import annotations

import io
import struct
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest

from darkchess.evaluation.evaluator import Weights
from darkchess.fog.belief.policy import Policy
from klss.errors import KlssError
from klss.support.archive import Archive, ArchiveError, read_arrays

ROOT = Path(__file__).resolve().parents[2]
MUCH = bytes(1 << 24)
"""What no reader of small files unpacks."""

MOST_UNPACKED = 1 << 23


class BadError(KlssError):
    pass


WEIGHTS = Archive("weights", 1, BadError, 1000)
ABOUT = np.frombuffer(b'{"format": 1}', dtype=np.uint8)


def npy(array: np.ndarray) -> bytes:
    """An array as numpy writes it."""
    out = io.BytesIO()
    np.lib.format.write_array(out, array, version=(1, 0))
    return out.getvalue()


def promising(header: str) -> bytes:
    """An array's header alone."""
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode()


def shaped(shape: str) -> bytes:
    """An array's header alone, as numpy writes it."""
    return promising(f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}}\n")


def npz(*members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """An archive with ``about`` and these members."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as packed:
        for name, content in (("about.npy", npy(ABOUT)), *members):
            packed.writestr(name, content)
    return out.getvalue()


def encrypted(content: bytes) -> bytes:
    """The same, said to be encrypted."""
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        first, directory = packed.infolist()[0], packed.start_dir
    assert first.header_offset == 0
    changed = bytearray(content)
    changed[6] |= 1
    changed[directory + 8] |= 1
    return bytes(changed)


GOOD = npz(("x.npy", npy(np.arange(50.0))))
BAD = {
    "more promised than is there": npz(("x.npy", shaped("(100_000_000,)")), ("y.npy", shaped("(4194304,)"))),
    "more in two arrays than there may be": npz(("x.npy", npy(np.zeros(600))), ("y.npy", npy(np.zeros(600)))),
    "a long array": npz(("x.npy", shaped("(4194304,)") + MUCH)),
    "a long header": npz(("x.npy", b"\x93NUMPY\2\0" + struct.pack("<I", len(MUCH)) + MUCH)),
    "an array and another thing of its name": npz(("x.npy", npy(np.zeros(3))), ("x", MUCH)),
    "a packing that unpacks at once": npz(("x.npy", npy(np.zeros(3))), method=zipfile.ZIP_BZIP2),
    "pickled objects": npz(("x.npy", npy(np.array([print], dtype=object)))),
    "texts": npz(("x.npy", npy(np.array(["a"])))),
    "a length below 0": npz(("x.npy", shaped("(-1,)"))),
    "a length of 30 digits": npz(("x.npy", shaped(f"(0, {10**30 - 1})"))),
    "a header that does not end": npz(("x.npy", promising("{'descr'"))),
    "an array that ends too soon": npz(("x.npy", shaped("(9,)") + bytes(8))),
    "numbers that are none": npz(("x.npy", npy(np.array([1.0, np.nan])))),
    "infinite numbers": npz(("x.npy", npy(np.array([-np.inf], dtype=np.float16)))),
    "too many arrays": npz(*((f"{number}.npy", b"") for number in range(4096))),
    "said to be encrypted": encrypted(GOOD),
    "torn": GOOD[: len(GOOD) // 2],
    "no zip": b"dear sir,\n" * 9,
}


@pytest.mark.parametrize("content", BAD.values(), ids=list(BAD))
def test_what_is_no_archive_is_refused_in_one_line_and_not_unpacked(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "weights.npz"
    path.write_bytes(content)
    tracemalloc.start()
    try:
        with pytest.raises(BadError) as refused:
            WEIGHTS.load(path)
        assert tracemalloc.get_traced_memory()[1] < MOST_UNPACKED
    finally:
        tracemalloc.stop()
    assert str(refused.value).startswith(f"{path}: ") and "\n" not in str(refused.value)
    for read in (Weights.read, Policy.load):
        with pytest.raises(ArchiveError) as refused_by_other:
            read(path)
        assert "\n" not in str(refused_by_other.value)


def test_a_byte_that_changes_is_refused_or_read_and_nothing_else_happens() -> None:
    changed = np.random.default_rng(1)
    for place in range(len(GOOD)):
        content = bytearray(GOOD)
        content[place] = changed.integers(256)
        try:
            read_arrays(io.BytesIO(content), 1000)
        except ArchiveError as refused:
            assert "\n" not in str(refused)


def test_only_what_is_asked_for_is_read_and_has_to_be_there() -> None:
    packed = npz(("x.npy", npy(np.arange(3))), ("y.npy", shaped("(9,)")))
    assert read_arrays(io.BytesIO(packed), names=["x"])["x"].tolist() == [0, 1, 2]
    with pytest.raises(ArchiveError, match="got no array z"):
        read_arrays(io.BytesIO(packed), names=["x", "z"])


def test_there_is_one_reader_of_such_files() -> None:
    packages = ("klss", "darkchess", "uci_bridge", "klss_app", "experiments")
    sources = [path for package in packages for path in (ROOT / package).rglob("*.py")]
    assert len(sources) > 100
    assert not [path for path in sources if "np.load(" in path.read_text(encoding="utf-8")]

"""The one reader of npz files, and files of arrays with what is to be said of them.

Whoever reads such a file need not trust it: nothing in it is executed (no pickles), no memory is taken for what a
header merely promises and nothing is unpacked past the bound, and whatever is wrong with it is one line.
:func:`numpy.load` is not used: it unpacks a long header, and a member that is no array, however large they are.
"""

from __future__ import annotations

import json
import os
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeVar

import numpy as np
import numpy.typing as npt

from klss.errors import KlssError
from klss.support.text import printable

__all__ = ["Archive", "ArchiveError", "read_arrays"]

Made = TypeVar("Made")

_MOST_ARRAYS = 4096
_SHOWN = 160
"""Characters of what is wrong."""
_MOST_NUMBERS = 1 << 30
"""Of a file of one's own; whoever reads others' says less."""

_PACKED_BY = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""What npz files are packed by. The others unpack more than is asked for at a time."""

_BAD = (OSError, ValueError, LookupError, TypeError, ArithmeticError, RuntimeError, EOFError, zipfile.BadZipFile,
        zlib.error, tokenize.TokenError)  # fmt: skip
"""What Python and numpy raise for files that are none."""


class ArchiveError(KlssError, ValueError):
    """A file is no npz, or not one that is to be read."""


def read_arrays(
    file: str | os.PathLike[str] | BinaryIO, most_numbers: int = _MOST_NUMBERS, names: Collection[str] | None = None
) -> dict[str, npt.NDArray[Any]]:
    """The arrays of numbers of an npz file.

    Parameters
    ----------
    file
        Open, or its path.
    most_numbers
        Of all the arrays that are read: more are refused before memory is taken for them.
    names
        Of the arrays that are read, all of which have to be there; None: whatever there is.

    Raises
    ------
    ArchiveError
        It is none, holds something else than arrays of numbers, more of them, or numbers that are not finite. One line,
        which begins with the path if that was given.
    """
    try:
        return _read(file, most_numbers, names)
    except (ArchiveError, *_BAD) as error:
        where = f"{os.fspath(file)}: " if isinstance(file, str | os.PathLike) else ""
        raise ArchiveError(where + printable(str(error).partition("\n")[0], _SHOWN)) from None


def _read(
    file: str | os.PathLike[str] | BinaryIO, most_numbers: int, names: Collection[str] | None
) -> dict[str, npt.NDArray[Any]]:
    left, arrays = most_numbers, {}
    with zipfile.ZipFile(file) as packed:
        if len(packed.infolist()) > _MOST_ARRAYS:
            raise ArchiveError(f"got {len(packed.infolist())} arrays, expected at most {_MOST_ARRAYS}")
        for member in packed.infolist():
            name = member.filename.removesuffix(".npy")
            if names is None or name in names:
                left -= _numbers(packed, member, left, most_numbers)
                with packed.open(member) as content:
                    array = arrays[name] = np.lib.format.read_array(content, allow_pickle=False)
                if array.dtype.kind == "f" and not np.isfinite(array).all():
                    raise ArchiveError(f"got {name} with infinite numbers or none, expected finite ones")
    missing = sorted(set(names or ()) - arrays.keys())
    if missing:
        raise ArchiveError(f"got no array {missing[0]}")
    return arrays


def _numbers(packed: zipfile.ZipFile, member: zipfile.ZipInfo, left: int, most: int) -> int:
    """How many numbers an array of a file has, unless its header promises too much."""
    name = printable(member.filename, 40)
    if member.compress_type not in _PACKED_BY:
        raise ArchiveError(f"got {name} packed by method {member.compress_type}, expected deflate")
    with packed.open(member) as content:
        version = np.lib.format.read_magic(content)
        if version != (1, 0):  # the longest header of a later version has 4 GB
            raise ArchiveError(f"got {name} in format {version}, expected (1, 0)")
        shape, _, kind = np.lib.format.read_array_header_1_0(content)
    if kind.hasobject or kind.kind not in "fiub":
        raise ArchiveError(f"got {name} of {kind}, expected numbers")
    numbers = np.prod(shape, dtype=np.float64)
    if not 0 <= numbers <= left:
        raise ArchiveError(f"got {name} of shape {shape}, expected at most {most} numbers in all")
    return int(numbers)


@dataclass(frozen=True)
class Archive:
    """A kind of file."""

    what: str  # what it holds: ``"weights of a tower"``
    short: str  # the same in a word, for what is bad of it: ``"weights"``
    version: int  # of its format
    remedy: str  # what to do about a file of another version
    error: type[KlssError]  # what is raised
    most_bytes: int  # of a file
    most_numbers: int  # of all its arrays together: more are refused before memory is taken for them

    def write(
        self,
        file: str | os.PathLike[str] | BinaryIO,
        arrays: Mapping[str, npt.NDArray[Any]],
        about: Mapping[str, Any],
        *,
        packed: bool = True,
    ) -> None:
        """Write ``arrays``, and ``about`` as JSON; ``packed``, which takes its time, or as they are. The same arguments
        give the same bytes.
        """
        said = json.dumps({"format": self.version, **about})
        held = {"about": np.frombuffer(said.encode(), dtype=np.uint8), **arrays}
        (np.savez_compressed if packed else np.savez)(file, **held)  # type: ignore[arg-type]

    def load(self, path: str | os.PathLike[str], made: Callable[[BinaryIO], Made]) -> Made:
        """What ``made``, which raises :attr:`error`, makes of an open file.

        Raises
        ------
        KlssError
            :attr:`error`: there is no such file, it is larger than :attr:`most_bytes`, or ``made`` refused it. One
            line, which begins with the path.
        """
        name = os.fspath(path)
        try:
            size = os.stat(name).st_size
            if size > self.most_bytes:
                raise self.error(f"got {size} bytes, expected {self.short} of at most {self.most_bytes}")
            with open(name, "rb") as file:
                return made(file)
        except OSError as error:
            raise self.error(f"{name}: expected a file that holds {self.what}: {error.strerror or error}") from None
        except self.error as error:
            raise self.error(f"{name}: {error}") from None

    def read(self, file: BinaryIO) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
        """The arrays that :meth:`write` wrote, and ``about``.

        Raises
        ------
        KlssError
            :attr:`error`: it holds something else. One line.
        """
        try:
            arrays = read_arrays(file, self.most_numbers)
            about = dict(json.loads(bytes(arrays.pop("about")).decode()))
            version = about.pop("format")
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            reason = str(error).partition("\n")[0][:120]
            raise self.error(f"expected {self.what} (npz): {reason}") from None
        if version != self.version:
            raise self.error(f"bad {self.short}: got format {version!r}, expected {self.version}; {self.remedy}")
        return arrays, about

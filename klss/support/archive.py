"""The only reader of npz files, and files of arrays with a description.

Files need not be trusted: nothing in them is executed (no pickles), nothing is unpacked beyond the limit, and every
error is one line. Numpy reads the arrays, after a check of the sizes that the zip gives.
"""

from __future__ import annotations

import json
import math
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

Made = TypeVar("Made")

_MOST_ARRAYS = 4096
"""Most arrays of a file."""
_SHOWN = 160
"""Most characters of an error's text that are shown."""
_MOST_NUMBERS = 1 << 30
"""Default limit of numbers in a file, for our own files; readers of others' files give a smaller one."""

_HEADER = 1024
"""Most bytes of an array's header in our files."""

_PACKED_BY = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Compression methods of npz files. The other methods may unpack more than is requested at a time."""

_BAD = (OSError, ValueError, LookupError, TypeError, ArithmeticError, RuntimeError, EOFError, MemoryError,
        zipfile.BadZipFile, zlib.error, tokenize.TokenError)  # fmt: skip
"""Exceptions that Python and numpy raise for files that are not valid npz."""


class ArchiveError(KlssError, ValueError):
    """A file is not npz, or not one that may be read."""


def read_arrays(
    file: str | os.PathLike[str] | BinaryIO, most_numbers: int = _MOST_NUMBERS, names: Collection[str] | None = None
) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of numbers of an npz file.

    Parameters
    ----------
    file
        Open, or its path.
    most_numbers
        Most numbers of all the arrays read; more are refused before memory is allocated for them.
    names
        Names of the arrays to read, all of which must be there; None: all arrays.

    Raises
    ------
    ArchiveError
        The file is not npz, or has anything but arrays of numbers, too many of them, or numbers that are not finite.
        One line, which begins with the path if that was given.
    """
    try:
        return _read(file, most_numbers, names)
    except (ArchiveError, *_BAD) as error:
        where = f"{os.fspath(file)}: " if isinstance(file, str | os.PathLike) else ""
        raise ArchiveError(where + printable(str(error).partition("\n")[0], _SHOWN)) from None


def _read(
    file: str | os.PathLike[str] | BinaryIO, most_numbers: int, names: Collection[str] | None
) -> dict[str, npt.NDArray[Any]]:
    arrays = {}
    with zipfile.ZipFile(file) as packed:
        members = [each for each in packed.infolist() if names is None or each.filename.removesuffix(".npy") in names]
        size = sum(member.file_size for member in members)
        if len(members) > _MOST_ARRAYS or size > 8 * most_numbers + _HEADER * len(members):
            raise ArchiveError(f"got {len(members)} arrays of {size} bytes, expected at most {most_numbers} numbers")
        for member in members:
            name = member.filename.removesuffix(".npy")
            if member.compress_type not in _PACKED_BY:
                raise ArchiveError(f"got {name} packed by method {member.compress_type}, expected deflate")
            with packed.open(member) as content:
                # numpy makes room for what the header promises before it reads on.
                first = np.lib.format.read_magic(content)[0] == 1
                header = np.lib.format.read_array_header_1_0 if first else np.lib.format.read_array_header_2_0
                shape, _, dtype = header(content)
                if math.prod(shape) * dtype.itemsize > member.file_size:
                    raise ArchiveError(f"got {name} of shape {shape} in {member.file_size} bytes")
                content.seek(0)
                array = arrays[name] = np.lib.format.read_array(content, allow_pickle=False)
            if array.dtype.kind not in "fiub" or (array.dtype.kind == "f" and not np.isfinite(array).all()):
                raise ArchiveError(f"got {name} of {array.dtype}, expected finite numbers")
    if sum(array.size for array in arrays.values()) > most_numbers:
        raise ArchiveError(f"got more numbers than the {most_numbers} expected at most")
    missing = sorted(set(names or ()) - arrays.keys())
    if missing:
        raise ArchiveError(f"got no array {missing[0]}")
    return arrays


@dataclass(frozen=True)
class Archive:
    """A kind of file."""

    what: str  # its contents: ``"weights of a tower"``
    short: str  # the same in one word, for errors: ``"weights"``
    version: int  # of its format
    remedy: str  # what to do about a file of another version
    error: type[KlssError]  # the error that is raised
    most_bytes: int  # largest file
    most_numbers: int  # most numbers of all its arrays; more are refused before memory is allocated for them

    def write(
        self,
        file: str | os.PathLike[str] | BinaryIO,
        arrays: Mapping[str, npt.NDArray[Any]],
        about: Mapping[str, Any],
        *,
        packed: bool = True,
    ) -> None:
        """Write ``arrays``, and ``about`` as JSON; compressed if ``packed``, which takes longer. The same arguments
        give the same bytes.
        """
        said = json.dumps({"format": self.version, **about})
        held = {"about": np.frombuffer(said.encode(), dtype=np.uint8), **arrays}
        (np.savez_compressed if packed else np.savez)(file, **held)  # type: ignore[arg-type]

    def load(self, path: str | os.PathLike[str], made: Callable[[BinaryIO], Made]) -> Made:
        """Open the file and return the result of ``made``, which raises :attr:`error`, on it.

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
        """Return the arrays that :meth:`write` wrote, and ``about``.

        Raises
        ------
        KlssError
            :attr:`error`: the file has other contents; one line.
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

"""The only reader of npz files, and files of arrays with a description.

Files need not be trusted: no pickles are loaded, and nothing is unpacked or allocated beyond the limit. Numpy reads the
arrays, after a check of the sizes that the zip gives and that each array's header promises.
"""

from __future__ import annotations

import json
import math
import os
import zipfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
from numpy.lib import format as npy

from klss.errors import KlssError
from klss.support.text import printable

_MOST_ARRAYS = 4096
"""Most arrays of a file."""
_MOST_NUMBERS = 1 << 30
"""Default limit of numbers in a file, for our own files; readers of others' files give a smaller one."""
_HEADER = 256
"""Bytes of an array's header in our files, and more."""
_SHOWN = 160
"""Most characters of an error's text that are shown."""

_PACKED_BY = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Compression methods of npz files. The other methods may unpack more than is requested at a time."""


class ArchiveError(KlssError, ValueError):
    """A file is not npz, or not one that may be read."""


def read_arrays(
    file: str | os.PathLike[str] | BinaryIO, most_numbers: int = _MOST_NUMBERS, names: Collection[str] | None = None
) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of numbers of an npz file, open or by its path: those of ``names``, all of which must be there,
    or all of them (None).

    More than ``most_numbers``, of eight bytes each, are refused before memory is allocated for them. Raises
    ArchiveError, of one line: the file is not npz, or has anything else, too many numbers, or some that are not finite.
    """
    try:
        with zipfile.ZipFile(file) as packed:
            members = {each.filename.removesuffix(".npy"): each for each in packed.infolist()}
            for name in names or ():
                if name not in members:
                    raise ArchiveError(f"got no array {name}")
            chosen = {name: members[name] for name in names or members}
            size = sum(member.file_size for member in chosen.values())
            if len(chosen) > _MOST_ARRAYS or size > 8 * most_numbers + _HEADER * len(chosen):
                raise ArchiveError(f"got {len(chosen)} arrays of {size} bytes, expected at most {most_numbers} numbers")
            return {name: _array(packed, member) for name, member in chosen.items()}
    except Exception as error:  # Python and numpy raise a dozen kinds for files that are not valid npz
        raise ArchiveError(printable(str(error).partition("\n")[0], _SHOWN)) from None


def _array(packed: zipfile.ZipFile, member: zipfile.ZipInfo) -> npt.NDArray[Any]:
    if member.compress_type not in _PACKED_BY:
        raise ArchiveError(f"got {member.filename} packed by method {member.compress_type}, expected deflate")
    with packed.open(member) as content:
        # numpy makes room for what the header promises before it reads on.
        header = npy.read_array_header_1_0 if npy.read_magic(content)[0] == 1 else npy.read_array_header_2_0
        shape, _, dtype = header(content)
        if math.prod(shape) * dtype.itemsize > member.file_size:
            raise ArchiveError(f"got {member.filename} of shape {shape} in {member.file_size} bytes")
        content.seek(0)
        array: npt.NDArray[Any] = npy.read_array(content, allow_pickle=False)
    if array.dtype.kind not in "fiub" or not np.isfinite(array).all():
        raise ArchiveError(f"got {member.filename} of {array.dtype}, expected finite numbers")
    return array


@dataclass(frozen=True)
class Archive:
    """A kind of file."""

    what: str  # its contents: ``"a run of klss solve"``
    version: int  # of its format
    error: type[KlssError]  # the error that is raised
    most_numbers: int  # most numbers of all its arrays

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

    def load(self, path: str | os.PathLike[str]) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
        """Return the arrays that :meth:`write` wrote, and ``about``. Raises :attr:`error`, of one line that begins with
        the path: there is no such file, it is too large, or has other contents.
        """
        try:
            size = os.stat(path).st_size
            if size > 8 * self.most_numbers + _HEADER * _MOST_ARRAYS:
                raise ArchiveError(f"got {size} bytes, expected at most {self.most_numbers} numbers")
            arrays = read_arrays(path, self.most_numbers)
            about = dict(json.loads(bytes(arrays.pop("about"))))
            if (version := about.pop("format")) != self.version:
                raise ArchiveError(f"got format {version!r}, expected {self.version}")
        except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
            reason = error.strerror if isinstance(error, OSError) else printable(str(error), _SHOWN)
            raise self.error(f"{os.fspath(path)}: expected a file that holds {self.what}: {reason}") from None
        return arrays, about

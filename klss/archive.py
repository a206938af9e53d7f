"""Arrays with what is to be said of them, in one npz file: written in one go, read within bounds.

Whoever reads such a file need not trust it: nothing in it is executed, no memory is taken for what a header merely
promises, and whatever is wrong with it is one line.
"""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeVar

import numpy as np
import numpy.typing as npt

from klss.errors import KlssError

__all__ = ["Archive"]

Made = TypeVar("Made")


@dataclass(frozen=True)
class Archive:
    """A kind of file.

    Attributes
    ----------
    what
        It holds: ``"weights of two towers"``.
    short
        The same in a word, for what is bad of it: ``"weights"``.
    version
        Of its format.
    remedy
        What to do about a file of another version.
    error
        What is raised.
    most_bytes
        Of a file.
    most_numbers
        Of all its arrays together: more are refused before memory is taken for them.
    """

    what: str
    short: str
    version: int
    remedy: str
    error: type[KlssError]
    most_bytes: int
    most_numbers: int

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
            with np.load(file, allow_pickle=False) as data:
                if not isinstance(data, np.lib.npyio.NpzFile):
                    raise self.error(f"expected {self.what} (npz): got one array")
                left, arrays = self.most_numbers, {}
                for name in data.files:
                    left -= self._numbers(data, name, left)
                    arrays[name] = data[name]
            about = dict(json.loads(bytes(arrays.pop("about")).decode()))
            version = about.pop("format")
        except self.error:
            raise
        except (
            OSError,
            ValueError,
            KeyError,
            TypeError,
            EOFError,
            RecursionError,
            zipfile.BadZipFile,
            zlib.error,
        ) as e:
            reason = str(e).partition("\n")[0][:120]
            raise self.error(f"expected {self.what} (npz): {reason}") from None
        if version != self.version:
            raise self.error(f"bad {self.short}: got format {version!r}, expected {self.version}; {self.remedy}")
        return arrays, about

    def _numbers(self, data: Any, name: str, left: int) -> int:
        """How many numbers an array of the file has, unless its header promises too much."""
        with data.zip.open(name + ".npy") as member:
            version = np.lib.format.read_magic(member)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, _, kind = read(member)
        if kind.hasobject or kind.kind not in "fiu":
            raise self.error(f"bad {self.short}: got {name} of {kind}, expected numbers")
        numbers = np.prod(shape, dtype=np.float64)
        if not 0 <= numbers <= left:
            raise self.error(
                f"bad {self.short}: got {name} of shape {shape}, expected at most {self.most_numbers} numbers in all"
            )
        return int(numbers)

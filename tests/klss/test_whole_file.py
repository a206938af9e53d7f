"""A file is the old one or the new one, whatever happens while it is written."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from klss.support.whole_file import write_whole, written_whole


def test_a_file_is_replaced_at_the_end_and_not_before(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    write_whole(path, "önce\n")
    with written_whole(path) as file:
        file.write(b"later")
        file.flush()
        assert path.read_text(encoding="utf-8") == "önce\n"
    assert path.read_bytes() == b"later"
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.parametrize("raised", [ValueError, KeyboardInterrupt])
def test_what_is_interrupted_leaves_the_old_file_and_nothing_beside_it(
    tmp_path: Path, raised: type[BaseException]
) -> None:
    path = tmp_path / "kept"
    write_whole(path, "before")
    with pytest.raises(raised), written_whole(path) as file:
        file.write(b"half of")
        raise raised
    assert path.read_text() == "before"
    assert [*tmp_path.iterdir()] == [path]


def test_an_error_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "none" / "kept", tmp_path / "file" / "kept", tmp_path / ("k" * 250)):
        with pytest.raises(OSError) as found:
            write_whole(path, "x")
        assert found.value.filename == str(path)


def test_a_link_stays_one_and_a_device_is_written_to(tmp_path: Path) -> None:
    place, link = tmp_path / "place", tmp_path / "link"
    link.symlink_to(place)
    write_whole(link, "x")
    assert link.is_symlink() and place.read_text() == "x"
    write_whole(Path(os.devnull), "x")
    assert not Path(os.devnull).is_file()


def test_a_private_file_is_made_private(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    write_whole(path, "x", 0o600)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600

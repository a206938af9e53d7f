"""Other people's text: what is shown of it and how far it is read."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from klss.support.text import printable, read_text


@given(st.text(st.characters()), st.none() | st.integers(0, 20))
def test_what_is_shown_is_one_line_of_characters_that_are_seen_and_showing_it_again_changes_nothing(
    text: str, most: int | None
) -> None:
    shown = printable(text, most)
    assert shown.isprintable() and shown == printable(shown, most)
    assert most is None or len(shown) <= most


@given(st.text(st.sampled_from("aä世♞½ -")))
def test_words_that_are_seen_are_left_alone(text: str) -> None:
    assert printable(text).split() == text.split()


def test_what_is_not_seen_becomes_a_question_mark_and_what_parts_words_a_space() -> None:
    assert printable("_\x00\x1b\x7f\x9b\u200b\u200f\u202e\u2066\ufeff\ud800\ue000") == "_" + 11 * "?"
    for sign in "\n\r\t\x85\xa0\u2028\u2029":
        assert printable(f"a{sign}b") == "a b"


def test_a_file_is_read_to_its_limit_and_no_further(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"a\r\nb\rc\n")
    assert read_text(path, 7) == "a\nb\nc\n"
    with pytest.raises(OSError) as raised:
        read_text(path, 6)
    assert raised.value.errno == errno.EFBIG
    with pytest.raises(OSError):
        read_text(Path("/dev/zero"), 1000)

"""``klss play --resume``: a game that was left goes on by its own terms, and nobody sees more of it than it had."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import chess
import pytest

from darkchess.fog.game.record import read_pgn
from darkchess.rbc.game.referee import Referee
from uci_bridge.kits.rbc import RBC

LEFT = '[White "human"]\n[Black "random"]\n[Result "*"]\n{tags}\n1. e4 {reply} 2. Nf3 {second} *\n'
KEPT = LEFT.format(tags="", reply="e6", second="d6")


def test_a_game_that_was_left_goes_on_where_it_was(klss: Any, tmp_path: Path) -> None:
    arguments = ("--seed", "9", "--clock", "600+3", "--rules", "pychess", "--ascii")
    first = klss("play", "--black", "random", *arguments, typed="e4\nNf3\nquit\n")
    (path,) = (tmp_path / "klss-games").iterdir()
    assert path.stat().st_mode & 0o077 == 0, "a game that goes on can be read by others"
    again = f"klss play --resume klss-games/{path.name} goes on"
    assert f"the game is kept in klss-games/{path.name}; {again}" in first.err
    (before,) = read_pgn(path.read_text())
    assert float(before.headers["WhiteClock"]) == pytest.approx(606.0, abs=2.0) and before.headers["Rules"] == "pychess"
    path.write_text(re.sub(r'WhiteClock "[\d.]+"', 'WhiteClock "75.5"', path.read_text()))
    on = klss("play", "--resume", "last", "--ascii", typed="history\nNg1\nresign\n")
    assert on.code == 0, on.err
    assert "White: you   1:1" in on.out and on.out.count("your move") == 3, "nothing is drawn before the last ply"
    assert re.search(r"^ 1\. e4 \?\S*  2\. Nf3 \?", on.out, re.MULTILINE)
    (after,) = read_pgn(path.read_text())
    assert after.moves[:4] == before.moves and after.moves[4].uci() == "f3g1" and after.result == "0-1"
    kept = ("Date", "UTCTime", "Seed", "TimeControl", "Rules", "White", "Black")
    assert {name: after.headers[name] for name in kept} == {name: before.headers[name] for name in kept}
    assert "WhiteClock" not in after.headers and list((tmp_path / "klss-games").iterdir()) == [path]
    assert on.err.splitlines()[1:] == [
        f"klss play: see it again: klss board klss-games/{path.name}",
        f"klss play: what moves cost: klss analyse klss-games/{path.name}",
    ]
    assert "has no unfinished game" in klss("play", "--resume", "last").err


def test_a_game_that_was_left_is_named_or_the_last_one(klss: Any, tmp_path: Path) -> None:
    assert klss("play", "--resume").code == 2
    folder = tmp_path / "klss-games"
    folder.mkdir()
    kept = [("one", KEPT), ("two", KEPT.replace("random", "greedy")), ("over", KEPT.replace("*", "1-0"))]
    for age, (name, written) in enumerate(kept):
        (folder / f"{name}.pgn").write_text(written)
        os.utime(folder / f"{name}.pgn", (1000 + age, 1000 + age))
    (folder / ".#one.pgn").symlink_to("of an editor")
    for flags, engine in (([], "greedy"), (["last"], "greedy"), (["one"], "random")):
        ran = klss("play", "--resume", *flags, "--ascii", typed="history\nquit\n")
        assert ran.code == 0 and f"Black: {engine}" in ran.out and "1. e4 ?  2. Nf3 ?" in ran.out, ran.err
        os.utime(folder / "two.pgn", (2000, 2000))


def blind(reply: str) -> str:
    """A game of Reconnaissance Blind Chess that was left after a turn of each side."""
    game = Referee()
    for square, move in ((chess.D3, "e2e4"), (chess.E5, reply)):
        game.sense(square)
        game.move(chess.Move.from_uci(move))
    return RBC.record(game, {"White": "human", "Black": "rbc-random", "Seed": "3"})


@pytest.mark.parametrize(
    ("command", "games", "seen"),
    [
        (("play",), [LEFT.format(tags="", reply=a, second=b) for a, b in (("e6", "d6"), ("g6", "c6"))], "2. Nf3 ?"),
        (("rbc", "play", "--nodes", "10"), [blind("a7a6"), blind("h7h6")], "You played e4."),
    ],
    ids=["fog", "rbc"],
)
def test_who_goes_on_sees_what_she_saw_and_no_more(
    klss: Any, tmp_path: Path, command: tuple[str, ...], games: list[str], seen: str
) -> None:
    shown = []
    for text in games:
        (tmp_path / "g").write_text(text)
        ran = klss(*command, "--resume", "g", "--ascii", typed="history\nmoves\nflip\nquit\n")
        assert ran.code == 0, ran.err
        shown.append(ran.out)
    assert shown[0] == shown[1] and seen in shown[0]


def test_the_engine_of_then_plays_by_its_limits_unless_told(klss: Any, tmp_path: Path) -> None:
    tags = '[MoveNodes "3"]\n[Seed "5"]\n'
    (tmp_path / "g.pgn").write_text(LEFT.format(tags=tags, reply="e6", second="d6"))
    ran = klss("play", "--resume", "g.pgn", "--black", "greedy", "--pgn", "other.pgn", typed="d4\nquit\n")
    assert ran.code == 0, ran.err
    (record,) = read_pgn((tmp_path / "other.pgn").read_text())
    assert (record.headers["Black"], record.headers["MoveNodes"], record.headers["Seed"]) == ("greedy", "3", "5")
    assert len(record.moves) == 6 and "Nf3 d6 *" in (tmp_path / "g.pgn").read_text(), "the other file is as it was"


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        (KEPT.replace("random", "nobody"), []),
        (KEPT.replace("random", f"a{',b=1' * 300}!"), []),
        (KEPT.replace("random", "human"), []),
        (KEPT.replace("*", "1-0"), []),
        ('[White "human"]\n[Black "random"]\n\n1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 *\n', []),
        *((LEFT.format(tags=tags, reply="e6", second="d6"), []) for tags in (
            '[TimeControl "-"]', '[TimeControl "1+1"]\n[WhiteClock "inf"]', '[MoveNodes "-1"]', '[Rules "mine"]',
        )),
        *((KEPT, flags) for flags in (["--clock", "1+1"], ["--white", "random"], ["--black", "human"])),
        ("", []),
    ],
)  # fmt: skip
def test_what_cannot_go_on_is_refused_in_one_line(klss: Any, tmp_path: Path, text: str, flags: list[str]) -> None:
    (tmp_path / "g.pgn").write_text(text)
    ran = klss("play", "--resume", "g.pgn", *flags, typed="quit\n")
    assert ran.code == 2 and ran.out == "" and ran.err.count("\n") == 1, ran.err
    assert (tmp_path / "g.pgn").read_text() == text

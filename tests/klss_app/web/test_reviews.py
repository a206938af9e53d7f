"""The review: what is shown of a game that is over, and the analysis of a whole game, process and all."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import chess
import pytest

from darkchess.fog.game.record import read_pgn
from darkchess.fog.game.rules import PAPER
from klss.play.outcome import Outcome
from klss_app.front import BadGame, Front, front_of
from klss_app.kept_games import HUMAN
from klss_app.known.known import over_document
from klss_app.web.fog_board import reviewed
from tests.klss_app.web.pages import served, settings
from uci_bridge.kits.fog import FOG
from uci_bridge.kits.rbc import RBC

PGN = """[White "<b>one</b>"]
[Black "two"]
[Result "1-0"]
[Variant "Fogofwar"]

1. e4 d5 2. Bb5 dxe4 3. Bxe8 1-0
"""


def test_a_review_shows_the_truth_and_both_views_ply_by_ply() -> None:
    document = front_of(FOG).review(front_of(FOG).opened(PGN))
    plies = document["plies"]
    assert [ply["san"] for ply in plies] == [None, "e4", "d5", "Bb5", "dxe4", "Bxe8"]
    assert document["over"] == over_document(Outcome(chess.WHITE, "king_captured"))
    assert plies[3]["truth"] == "rnbqkbnr/ppp1pppp/8/1B1p4/4P3/8/PPPP1PPP/RNBQK1NR"
    assert plies[3]["white"].split("/")[0] == "????k???" and plies[3]["black"].split("/")[4] == "???1P?1?"
    assert document["tags"]["White"] == "<b>one</b>"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "garbage {",
        "1. e4 e9",
        '[Variant "Atomic"]\n\n1. e4 *',
        "1. e4 *\n\n1. d4 *",
        "1. " + "Nf3 Nf6 Ng1 Ng8 " * 600,
        "{" * (1 << 22),
        "1. e4" + "+" * (1 << 22) + "x",
        '{"senses": 3}',
    ],
)
@pytest.mark.parametrize("kind", [front_of(FOG), front_of(RBC)], ids=["fog", "rbc"])
def test_what_is_no_game_is_refused_with_a_reason(kind: Front, text: str) -> None:
    """In a time that grows no faster than its length: the longest two would never end."""
    with pytest.raises(BadGame, match="got"):
        kind.opened(text)


@pytest.mark.slow
async def test_a_dropped_game_is_reviewed_and_analysed_turn_by_turn() -> None:
    async with served(settings()) as at:
        at.room.analyses.nodes, at.room.analyses.cap = 30, 10_000
        page = await at.page()
        await page.until("game")
        await page.send(type="open", pgn=PGN)
        await page.until("refused", of="open")  # a game is going on
        await page.send(type="resign")
        await page.until("room", playing=False)
        await page.send(type="open", pgn=PGN)
        document = await page.until("review")
        number = document["game"]
        await page.send(type="analyse", game=number)
        turns: list[dict[str, Any]] = []
        while True:
            message = await page.until("analysis", game=number)
            assert message["failed"] is None and message["of"] == 5
            turns += message["turns"]
            if message["done"]:
                break
        again = await at.page()
        await again.send(type="analyse", game=number)
        whole = await again.until("analysis")
        assert whole["turns"] == turns and whole["summary"] == message["summary"]
        assert [whole["summary"][color]["moves"] for color in ("white", "black")] == [3, 2]
        await again.send(type="pgn", game=number)
        plain = (await again.until("pgn"))["pgn"]
        await again.send(type="pgn", game=number, comments=True)
        commented = (await again.until("pgn"))["pgn"]
        assert "cost" not in plain and commented.count("{cost") == 5
        assert read_pgn(commented) == read_pgn(plain)
    assert [turn["ply"] for turn in turns] == list(range(5))
    assert [turn["played"]["san"] for turn in turns] == ["e4", "d5", "Bb5", "dxe4", "Bxe8"]
    assert turns[1]["positions"]["black"] == [20, False] and turns[1]["positions"]["white"] == [1, False]
    assert turns[4]["best"] == {"san": "Bxe8", "move": "b5e8", "p": 1.0} and turns[4]["played"]["loss"] == 0.0
    for turn in turns:
        assert turn["tries"][[each["move"] for each in document["plies"]][turn["ply"] + 1]][1] == turn["played"]["loss"]
        known = {each["move"]: each["p"] for each in turn["moves"] if turn["tries"][each["move"]][1] is not None}
        mean = sum(p * turn["tries"][move][1] for move, p in known.items())
        assert mean == pytest.approx(0.0, abs=0.02), "costs are counted from the mixture's value"
        assert sum(each["p"] for each in turn["moves"]) == pytest.approx(1.0, abs=0.02)
        for pieces in turn["beliefs"]["white"].values():
            assert sum(pieces.values()) <= 1.001 and all(piece.islower() for piece in pieces)


async def test_of_analyses_asked_for_at_once_only_one_goes_on_and_none_when_a_game_begins_or_the_room_closes() -> None:
    others = asyncio.all_tasks()
    async with served(settings()) as at:
        numbers = [at.room.add(reviewed(read_pgn("1. Nf3 Nf6 *")[0], PAPER)) for _ in range(3)]
        at.room.opened = numbers[0]
        at.room.analyses.nodes = 10**7
        pages = [await at.page() for _ in numbers]
        for page, number in zip(pages, numbers, strict=True):
            await page.send(type="analyse", game=number)
            await page.until("analysis", game=number)
        while _analysing() != 1:
            await asyncio.sleep(0.02)
        await pages[0].send(type="rematch")
        await pages[0].until("game")
        assert not _analysing()
        await pages[0].send(type="resign")
        await pages[0].until("room", playing=False)
        await pages[0].send(type="analyse", game=numbers[0])
        await pages[0].until("analysis", game=numbers[0])
    assert not _analysing() and asyncio.all_tasks() == others


def _analysing() -> int:
    """Processes below this one that analyse a game."""
    children = Path("/proc/self/task").glob("*/children")
    pids = {pid for path in children for pid in path.read_text().split()}
    return sum(b"klss_app.analysis" in Path(f"/proc/{pid}/cmdline").read_bytes() for pid in pids)


# ------------------------------------------------------------------------------------------- reconnaissance blind chess
TURNS = [("e5", "e2e4"), ("e4", "d7d5"), ("d6", "e4d5"), ("e2", "d8d5"), ("g7", "b1c3"), ("", "d5c5")]
"""A look (nothing: nowhere) and a request each turn."""


async def test_a_blind_review_shows_what_either_side_knew_as_it_was_sent_then_and_how_long_ago() -> None:
    async with served(settings(HUMAN, HUMAN), front_of(RBC)) as at:
        pages = [await at.page(0), await at.page(1)]
        for turn, answers in enumerate(TURNS):
            await pages[turn % 2].plays(*answers)
        await pages[0].until("game", question="sense")
        await pages[0].send(type="resign")
        await pages[0].until("room", playing=False)
        await pages[0].send(type="review", game=1)
        review = await pages[0].until("review")
        heard = [[json.loads(line) for line in page.heard if b'"type":"game"' in line] for page in pages]
        kept = at.kept[0]
    played = [None, "e5: e4", "e4: d5", "d6: exd5", "e2: Qxd5", "g7: Nc3", "Qc5"]
    assert [ply["san"] for ply in review["plies"]] == played
    assert [ply["look"] for ply in review["plies"][1:]] == [look or None for look, _ in TURNS]
    assert front_of(RBC).review(front_of(RBC).opened(kept))["plies"] == review["plies"]
    for color, messages in zip(("white", "black"), heard, strict=True):
        plies = review["plies"][: len(messages[-1]["past"])]
        assert [ply[color] for ply in plies] == messages[-1]["past"][: len(plies)]
        asked = [each for each in messages if each["question"] == "sense" and each["ply"] < len(TURNS)]
        assert len(asked) == 3
        for message in asked:
            assert review["plies"][message["ply"]]["ages"][color] == message["ages"]
    # White looked around d6 in the turn before; what captured on d5 it did not see.
    (after,) = [each for each in heard[0] if each["ply"] == 4 and each["question"] == "sense"]
    assert after["history"] == ["e5: e4", "?", "d6: exd5", "?xd5"] and after["lost"] == "P"
    assert after["ages"]["c7"] == after["ages"]["d7"] == 1 and "d5" not in after["ages"]

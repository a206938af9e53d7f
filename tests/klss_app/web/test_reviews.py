"""The review: what is shown of a game that is over, and the analysis of a whole game, process and all."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from darkchess.fog.game.record import read_pgn
from darkchess.fog.game.rules import PAPER
from klss_app.web.analyses import Analyses
from klss_app.web.board_game import BadGame
from klss_app.web.fog_board import FogBoard, reviewed
from klss_app.web.game_analysis import middle
from klss_app.web.reviews import listed_games, opened_game, review
from tests.klss_app.web.pages import run, served, settings

PGN = """[White "<b>one</b>"]
[Black "two"]
[Result "1-0"]
[Variant "Fogofwar"]

1. e4 d5 2. Bb5 dxe4 3. Bxe8 1-0
"""


def test_a_review_shows_the_truth_and_both_views_ply_by_ply() -> None:
    document = review(opened_game(PGN)[0], PAPER)
    plies = document["plies"]
    assert [ply["san"] for ply in plies] == [None, "e4", "d5", "Bb5", "dxe4", "Bxe8"]
    assert document["over"] == {"winner": "white", "reason": "king_captured", "result": "1-0"}
    assert plies[3]["truth"] == "rnbqkbnr/ppp1pppp/8/1B1p4/4P3/8/PPPP1PPP/RNBQK1NR"
    assert plies[3]["white"].split("/")[0] == "????k???" and plies[3]["black"].split("/")[4] == "???1P?1?"
    assert document["tags"]["White"] == "<b>one</b>"


def test_the_games_of_a_file_are_listed_with_the_reason_where_one_cannot_be_opened() -> None:
    others = '[White "x\u202e"]\n\n1. e4 e9 1/2-1/2\n\n[Variant "Atomic"]\n\n1. e4 *\n\n[Result "0-1"]\n\n0-1\n'
    rows, count = listed_games(PGN + "\n" + others)
    assert count == len(rows) == 4 and [row["number"] for row in rows] == [1, 2, 3, 4]
    first = {"number": 1, "white": "<b>one</b>", "black": "two", "result": "1-0", "plies": 5, "why": None}
    assert rows[0] == first
    assert rows[1]["white"] == "x?" and rows[1]["why"].startswith("ply 2: misspelt move: got 'e9'")
    assert "Atomic" in rows[2]["why"] and "no game with a move" in rows[3]["why"]
    assert opened_game(PGN + "\n1. d4 *", 2)[0].moves[0].uci() == "d2d4"


def test_of_a_file_of_one_game_there_is_no_list_and_of_one_of_many_a_bounded_one() -> None:
    assert listed_games(PGN) == ([], 1) and listed_games("") == ([], 0)
    rows, count = listed_games("1. e4 *\n\n" * 501)
    assert len(rows) == 500 and count == 501 and all(row["why"] is None for row in rows)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "garbage {",
        "1. e4 e9",
        '[Variant "Atomic"]\n\n1. e4 *',
        "1. " + "Nf3 Nf6 Ng1 Ng8 " * 600,
        "{" * (1 << 22),
        "1. e4" + "+" * (1 << 22) + "x",
    ],
)
def test_what_is_no_game_is_refused_with_a_reason(text: str) -> None:
    """In a time that grows no faster than its length: the last two would never end."""
    with pytest.raises(BadGame, match="got"):
        opened_game(text)


@pytest.mark.slow
def test_a_dropped_game_is_reviewed_and_analysed_turn_by_turn() -> None:
    async def work() -> list[dict[str, Any]]:
        async with served(settings()) as at:
            at.table.analyses = Analyses(FogBoard(), nodes=30, cap=10_000)
            page = await at.page()
            await page.until("game")
            await page.send(type="open", pgn=PGN)
            assert "going on" in (await page.until("refused"))["why"]
            await page.send(type="resign")
            await page.until("table", playing=False)
            two = PGN + "\n1. e4 e9 *"
            await page.send(type="open", pgn=two)
            assert (await page.until("games"))["games"] == listed_games(two)[0]
            await page.send(type="open", pgn=two, number=2)
            assert "e9" in (await page.until("refused"))["why"]
            for bad in (0, True, "1"):
                await page.send(type="open", pgn=two, number=bad)
                assert "fields" in (await page.until("error"))["why"]
            await page.send(type="open", pgn=two, number=1)
            number = (await page.until("review"))["game"]
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
            await again.send(type="analyse", game=number, ply=3)
            while not (deeper := await again.until("analysis"))["turns"]:
                pass
            least, most = deeper["turns"][0]["played"]["range"]
            assert deeper["turns"][0]["ply"] == 3 and least <= deeper["turns"][0]["played"]["loss"] <= most
            await again.send(type="analyse", game=number, ply=5)
            assert "fields" in (await again.until("error"))["why"]
            return turns

    turns, document = run(work()), review(opened_game(PGN)[0], PAPER)
    assert [turn["ply"] for turn in turns] == list(range(5))
    assert [turn["played"]["san"] for turn in turns] == ["e4", "d5", "Bb5", "dxe4", "Bxe8"]
    assert turns[1]["positions"]["black"] == [20, False] and turns[1]["positions"]["white"] == [1, False]
    assert turns[4]["best"] == {"san": "Bxe8", "p": 1.0} and turns[4]["played"]["loss"] == 0.0
    missed = turns[3]
    # Black knew the position: all of the loss is a cost, none of it bad luck.
    assert missed["color"] == "black" and missed["positions"]["black"] == [1, False]
    assert missed["played"]["loss"] > 0.5 and missed["played"]["turned"] == 0.0
    for turn in turns:
        assert turn["tries"][[each["move"] for each in document["plies"]][turn["ply"] + 1]][1] == turn["played"]["loss"]
        known = {each["move"]: each["p"] for each in turn["moves"] if turn["tries"][each["move"]][1] is not None}
        mean = sum(p * turn["tries"][move][1] for move, p in known.items())
        assert mean == pytest.approx(0.0, abs=0.02), "costs are counted from the mixture's value"
        assert sum(each["p"] for each in turn["moves"]) == pytest.approx(1.0, abs=0.02)
        for pieces in turn["beliefs"]["white"].values():
            assert sum(pieces.values()) <= 1.001 and all(piece.islower() for piece in pieces)


def test_of_deeper_searches_those_that_know_no_cost_are_no_part_of_the_range() -> None:
    def costing(*losses: float | None) -> list[dict[str, Any]]:
        return [{"played": {"loss": loss}} for loss in losses]

    assert middle(costing(0.3, None, 0.1))["played"] == {"loss": 0.3, "range": [0.1, 0.3]}
    assert middle(costing(None, None, None))["played"] == {"loss": None}


def test_no_analysis_begins_once_a_game_has_while_it_waited() -> None:
    async def work() -> None:
        async with served(settings()) as at:
            page = await at.page()
            await page.until("game")
            number = at.table.add(reviewed(read_pgn(PGN)[0], PAPER))
            await page.send(type="resign")
            await page.until("table", playing=False)
            async with at.table.changing:
                await page.send(type="analyse", game=number)
                await asyncio.sleep(0.1)
                at.table._beginning = True
            assert "going on" in (await page.until("refused", of="analyse"))["why"]

    run(work())


def test_an_analysis_that_nobody_listens_to_ends_with_its_process() -> None:
    async def work() -> None:
        async with served(settings()) as at:
            record = read_pgn("1. Nf3 Nf6 2. Ng1 Ng8 3. Nc3 Nc6 *")[0]
            number = at.table.add(reviewed(record, PAPER))
            at.table.opened = number
            at.table.analyses = Analyses(FogBoard(), nodes=10**7, grace_s=0.0)
            page = await at.page()
            await page.send(type="analyse", game=number)
            await page.until("analysis")
            await asyncio.sleep(0.2)
            before = _analysing()
            assert before == 1
            await page.socket.close()
            for _ in range(100):
                if not _analysing():
                    break
                await asyncio.sleep(0.05)
            assert not _analysing()

    run(work())


def test_of_analyses_asked_for_at_once_only_one_goes_on_and_none_that_nobody_can_end() -> None:
    async def work() -> None:
        async with served(settings()) as at:
            text = "1. Nf3 Nf6 *"
            numbers = [at.table.add(reviewed(read_pgn(text)[0], PAPER)) for _ in range(3)]
            at.table.opened = numbers[0]
            at.table.analyses = Analyses(FogBoard(), nodes=10**7, grace_s=0.0)
            pages = [await at.page() for _ in numbers]
            await pages[0].send(type="analyse", game=numbers[0])
            await pages[0].until("analysis")
            for page, number in zip(pages[1:], numbers[1:], strict=True):
                await page.send(type="analyse", game=number)
            for page in pages[1:]:
                await page.until("analysis")
            await asyncio.sleep(0.2)
            assert _analysing() == 1
            for page in pages:
                await page.socket.close()
            while _analysing():
                await asyncio.sleep(0.02)

    run(asyncio.wait_for(work(), 60))


def test_an_analysis_that_may_be_listened_to_again_ends_with_the_table() -> None:
    """Neither its process is left, nor the task that would have ended it."""

    async def work() -> None:
        others = asyncio.all_tasks()
        async with served(settings()) as at:
            record = read_pgn("1. Nf3 Nf6 *")[0]
            number = at.table.add(reviewed(record, PAPER))
            at.table.opened = number
            analyses = at.table.analyses = Analyses(FogBoard(), nodes=10**7, grace_s=3600.0)
            page = await at.page()
            await page.send(type="analyse", game=number)
            await page.until("analysis")
            before = asyncio.all_tasks()
            await page.socket.close()
            while not asyncio.all_tasks() - before:
                await asyncio.sleep(0.02)
        await analyses.stop()
        assert not _analysing()
        assert asyncio.all_tasks() == others

    run(work())


def _analysing() -> int:
    """Processes below this one that analyse a game."""
    children = Path("/proc/self/task").glob("*/children")
    pids = {pid for path in children for pid in path.read_text().split()}
    return sum(b"game_analysis" in Path(f"/proc/{pid}/cmdline").read_bytes() for pid in pids)

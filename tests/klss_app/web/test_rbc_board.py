"""Reconnaissance Blind Chess at the board: the messages of a game, its review, its analysis."""

from __future__ import annotations

import asyncio
import datetime
import json
from pathlib import Path
from typing import Any

import chess
import pytest

from darkchess.rbc.game.history import history_text
from darkchess.rbc.game.observation import window
from darkchess.rbc.game.referee import Referee
from klss.table.outcome import Outcome
from klss_app.cli.main import main
from klss_app.kept_games import HUMAN
from klss_app.web.board_game import BadGame
from klss_app.web.rbc_board import RbcBoard, opened
from klss_app.web.settings import Earlier
from tests.klss_app.web.pages import Page, run, served, settings

QUEEN_HUNT = [("e5", "e2e4"), ("", "f7f6"), ("e7", "d1h5"), ("e2", "pass"), ("", "h5e8")]
"""A look (nothing: nowhere) and a request each turn, to the capture of Black's king."""


async def played(pages: list[Page], turns: list[tuple[str, str]]) -> list[dict[str, Any]]:
    """Play these turns, White first; the last message of either page."""
    last: list[dict[str, Any]] = [{}, {}]
    for at, answers in enumerate(turns):
        page = pages[at % 2]
        for question, text in zip(("sense", "move"), answers, strict=True):
            asked = await page.until("game", question=question)
            await page.send(type="move", move=text, ply=asked["step"])
        last[at % 2] = await page.until("game", question=None)
    return last


def two(**rest: Any) -> Any:
    """A table of two humans."""
    return served(settings(HUMAN, HUMAN, **rest), RbcBoard())


def test_two_people_play_to_the_capture_of_a_king_and_review_it() -> None:
    async def work() -> tuple[dict[str, Any], dict[str, Any], str]:
        async with two() as at:
            pages = [await at.page(0), await at.page(1)]
            await played(pages, QUEEN_HUNT)
            over = await pages[1].until("game", over={"winner": "white", "reason": "king_captured", "result": "1-0"})
            await pages[0].until("table", playing=False)
            await pages[0].send(type="review", game=1)
            return over, await pages[0].until("review"), at.kept[0]

    over, review, kept = run(work())
    assert over["question"] is None and over["moves"] == []
    assert [ply["san"] for ply in review["plies"]] == [None, "e5: e4", "f6", "e7: Qh5", "e2: pass", "Qxe8"]
    assert [ply["look"] for ply in review["plies"][1:]] == ["e5", None, "e7", "e2", None]
    assert review["over"]["winner"] == "white" and len(review["plies"]) == 6
    again = opened(kept)
    assert again.plies == 5 and RbcBoard().review(again)["plies"] == review["plies"]


def test_the_review_shows_what_either_side_knew_as_it_was_sent_then_and_how_long_ago() -> None:
    turns = [("e5", "e2e4"), ("e4", "d7d5"), ("d6", "e4d5"), ("e2", "d8d5"), ("g7", "b1c3"), ("", "d5c5")]

    async def work() -> tuple[list[list[dict[str, Any]]], dict[str, Any]]:
        async with two() as at:
            pages = [await at.page(0), await at.page(1)]
            await played(pages, turns)
            await pages[0].until("game", question="sense")
            await pages[0].send(type="resign")
            await pages[0].until("table", playing=False)
            await pages[0].send(type="review", game=1)
            review = await pages[0].until("review")
            heard = [[json.loads(line) for line in page.heard if b'"type":"game"' in line] for page in pages]
            return heard, review

    heard, review = run(work())
    for color, messages in zip(("white", "black"), heard, strict=True):
        plies = review["plies"][: len(messages[-1]["past"])]
        assert [ply[color] for ply in plies] == messages[-1]["past"][: len(plies)]
        asked = [each for each in messages if each["question"] == "sense" and each["ply"] < len(turns)]
        assert len(asked) == 3
        for message in asked:
            assert review["plies"][message["ply"]]["ages"][color] == message["ages"]
    # White looked around d6 in the turn before; what captured on d5 it did not see.
    assert review["plies"][4]["ages"]["white"]["c7"] == 1 and "d5" not in review["plies"][4]["ages"]["white"]


def test_a_player_is_sent_what_it_observed_and_no_more() -> None:
    """A message's enemy pieces are those of the start, or of a look, where it was made."""

    async def work() -> list[dict[str, Any]]:
        async with two() as at:
            pages = [await at.page(0), await at.page(1)]
            await played(pages, [("e5", "e2e4"), ("e4", "d7d5"), ("d6", "e4d5"), ("e2", "d8d5")])
            await pages[0].until("game", question="sense")
            return [json.loads(line) for line in pages[0].heard if b'"game"' in line]

    messages = [each for each in run(work()) if each["type"] == "game"]
    assert messages[-1]["history"] == ["e5: e4", "?", "d6: exd5", "?xd5"]
    assert messages[-1]["said"][-1] == "Your pawn on d5 was captured."
    assert messages[-1]["lost"] == "P"
    # d7 was seen empty beside the pawn on d5; d5 itself, where the captor stands, is not known.
    ranks = {8 - i: row for i, row in enumerate(messages[-1]["board"].split("/"))}
    assert "?" in ranks[5] and messages[-1]["ages"]["d7"] == 1 and "d5" not in messages[-1]["ages"]
    assert "Around d6: pawn c7, pawn e7" in " ".join(each for m in messages for each in m["said"])


@pytest.mark.parametrize(("one", "other"), [("a7a6", "h7h6"), ("g8f6", "b8c6")])
def test_games_that_look_alike_to_a_player_send_it_the_same_bytes(one: str, other: str) -> None:
    def heard(move: str) -> list[bytes]:
        async def work() -> list[bytes]:
            async with two() as at:
                pages = [await at.page(0), await at.page(1)]
                await played(pages, [("d3", "e2e4"), ("d3", move), ("d3", "d2d4")])
                await asyncio.sleep(0)
                return pages[0].heard

        return run(work())

    assert heard(one) == heard(other)


def test_what_is_no_answer_is_refused_with_a_reason() -> None:
    async def work() -> list[str]:
        async with two() as at:
            white, black = await at.page(0), await at.page(1)
            asked = await white.until("game", question="sense")
            found = []
            for page, text, step in ((white, "z9", asked["step"]), (white, "e4", 99), (black, "e4", 0)):
                await page.send(type="move", move=text, ply=step)
                found.append((await page.until("refused"))["why"])
            await white.send(type="move", move="e4", ply=asked["step"])
            asked = await white.until("game", question="move")
            await white.send(type="move", move="Qxq9", ply=asked["step"])
            return [*found, (await white.until("refused"))["why"]]

    reasons = run(work())
    assert ["not a square" in reasons[0], "changed" in reasons[1], "your turn" in reasons[2]] == [True] * 3
    assert "may ask for" in reasons[3]


@pytest.mark.slow
def test_the_engine_plays_and_its_game_is_analysed() -> None:
    async def work() -> dict[str, Any]:
        async with served(settings(HUMAN, "rbc-random", nodes=1), RbcBoard()) as at:
            page = await at.page()
            for text in ("e5", "e2e4"):
                asked = await page.until("game", question="sense" if text == "e5" else "move")
                await page.send(type="move", move=text, ply=asked["step"])
            await page.until("game", question="sense")
            await page.send(type="resign")
            await page.until("table", playing=False)
            at.table.analyses._nodes = 200
            await page.send(type="analyse", game=1)
            return await page.until("analysis", done=True)

    found = run(work())
    assert found["failed"] is None and found["of"] == 2
    assert found["summary"]["white"]["moves"] == 1


def test_the_squares_of_a_look_and_what_is_remembered() -> None:
    game = Referee()
    seat = RbcBoard().human(None, lambda message: None, 0)  # type: ignore[arg-type]
    seat.begin(chess.WHITE, game.setup)
    for observation in game.observations(chess.WHITE):
        seat.observe(observation)
    game.sense(chess.E7)
    seat.observe(game.observations(chess.WHITE)[-1])
    ages = seat.message()["ages"]
    assert {name for name, age in ages.items() if age == 0} == {chess.SQUARE_NAMES[at] for at in window(chess.E7)}
    assert set(ages.values()) == {0, 1} and len(ages) == 48


@pytest.mark.parametrize("text", ["", "[]", '{"senses": 3}', "1. e4 e5 *"])
def test_what_is_no_history_is_refused(text: str) -> None:
    with pytest.raises(BadGame, match="history"):
        opened(text)


def test_the_command_opens_a_history_and_begins_a_game(
    tmp_path: Path, opened_boards: list[Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    game = Referee()
    for text in ("e2e4", "f7f6", "d1h5"):
        game.move(chess.Move.from_uci(text))
    game.end(Outcome(None, "aborted"))
    (tmp_path / "game.json").write_text(history_text(game, "a", "b"))
    monkeypatch.chdir(tmp_path)
    for arguments in (["board", "game.json", "--game", "rbc"], ["rbc", "board"]):
        assert main([*arguments, "--port", "0", "--no-open"]) == 0, capsys.readouterr().err
    (kind, reviewed), (other, nothing) = opened_boards
    assert kind.kit is other.kit is RbcBoard.kit and nothing is None
    assert (reviewed.plies, kind.review(reviewed)["tags"]) == (3, {"White": "a", "Black": "b"})


@pytest.mark.parametrize("look", [(), ("d3",)])
def test_a_game_that_was_left_goes_on_alike_where_it_looked_alike(look: tuple[str, ...]) -> None:
    """Nothing is sent before the last observation; with the look of a turn that was left, the request is asked for."""

    async def resumed(move: str) -> list[bytes]:
        begun = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
        earlier = Earlier(("d3", "e2e4", "d3", move, *look), 2, {}, begun)
        async with two(earlier=earlier) as at:
            page = await at.page(0)
            await page.until("table")
            await at.page(1)
            await page.until("game", question="move" if look else "sense")
            heard: list[bytes] = page.heard
            return heard

    one, other = run(resumed("a7a6")), run(resumed("h7h6"))
    games = [each for each in map(json.loads, one) if each["type"] == "game"]
    assert one == other and games[0]["history"] == ["d3: e4", "?"] and games[0]["ply"] == 2

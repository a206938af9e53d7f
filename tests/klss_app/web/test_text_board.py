"""Games of OpenSpiel at the board: the messages of a game, what they may hold, its review."""

from __future__ import annotations

import asyncio
import json
import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import chess
import pytest

pytest.importorskip("pyspiel")

from klss.openspiel.games import spiel_game
from klss.openspiel.observations import Sight
from klss_app.cli.main import main
from klss_app.kept_games import HUMAN
from klss_app.web.board_game import BadGame
from klss_app.web.text_board import TextBoard
from tests.klss_app.web.pages import Page, run, served, settings
from uci_bridge.kits.named import kit_named

DARK_HEX = "dark_hex(num_rows=3,num_cols=3)"
GAMES = (DARK_HEX, "phantom_ttt", "kuhn_poker", "leduc_poker")


def text_board(game: str) -> TextBoard:
    return TextBoard(kit_named(f"openspiel:{game}"))


async def to_the_end(pages: list[Page], seed: int) -> None:
    """Two people play at random, each from what the own page shows."""
    chance = random.Random(seed)

    async def play(page: Page) -> None:
        while True:
            shown = await page.until("game")
            if shown["over"]:
                return
            if shown["moves"]:
                await page.send(type="move", move=chance.choice(shown["moves"]), ply=shown["step"])

    await asyncio.gather(*map(play, pages))
    await pages[0].until("table", playing=False)


def two(game: str, seed: int) -> tuple[list[list[dict[str, Any]]], dict[str, Any], dict[str, Any]]:
    """The frames of a game that each of two people gets, its review, and what is kept of it."""

    async def work() -> tuple[list[list[dict[str, Any]]], dict[str, Any], dict[str, Any]]:
        async with served(settings(HUMAN, HUMAN, seed=seed), text_board(game)) as at:
            pages = [await at.page(0), await at.page(1)]
            await to_the_end(pages, seed)
            frames = [[json.loads(frame) for frame in page.heard] for page in pages]
            await pages[0].send(type="review", game=1)
            return frames, await pages[0].until("review"), json.loads(at.kept[0])

    return run(work())


@pytest.mark.parametrize("game", GAMES)
def test_a_page_is_sent_what_its_seat_observes_and_no_more(game: str) -> None:
    """A law over all frames: the texts are the seat's own of the true game; and where two games were the same to a seat
    up to a frame, so is the frame."""
    spiel, _ = spiel_game(game)
    shown: list[dict[str, set[str]]] = [defaultdict(set), defaultdict(set)]
    for seed in range(6):
        frames, _, kept = two(game, seed)
        for player, heard in enumerate(frames):
            own = [each for each in heard if each["type"] == "game"]
            seen = Sight(spiel, player).along(spiel.new_initial_state(), kept["history"])
            texts, names = [each.text for each in seen], [list(each.names) for each in seen]
            mine = [
                name for name, seat in zip(kept["actions"], kept["seats"], strict=True) if (seat == "white") != player
            ]
            for frame in own:
                known, done = len(frame["past"]), len(frame["history"])
                assert frame["past"] == texts[:known] and frame["history"] == mine[:done]
                assert frame["moves"] in ([], names[known - 1]) and frame["step"] == known + done
                if frame["over"] is None:
                    about = json.dumps([frame["past"], frame["history"]])
                    shown[player][about].add(json.dumps(frame | {"past": 0, "history": 0}, sort_keys=True))
            assert len(own[-1]["past"]) == len(texts) and {each["type"] for each in heard} == {"game", "table"}
    for frames_of in shown:
        # The same knowledge is shown in two ways: before an action, and after it.
        assert all(len({json.loads(text)["turn"] for text in alike}) == len(alike) for alike in frames_of.values())


@pytest.mark.parametrize(("one", "other"), [(1, 2), (2, 1)])
def test_games_that_look_alike_to_a_player_send_it_the_same_bytes(one: int, other: int) -> None:
    """Two deals of Kuhn poker with the same card for the first player, and the same actions."""

    def heard(card: int) -> list[bytes]:
        async def work() -> list[bytes]:
            for seed in range(60):
                async with served(settings(HUMAN, HUMAN, seed=seed), text_board("kuhn_poker")) as at:
                    pages = [await at.page(0), await at.page(1)]
                    asked = await pages[0].until("game", turn="white")
                    asked = asked if asked["moves"] else await pages[0].until("game", turn="white")
                    await pages[0].send(type="move", move="Pass", ply=asked["step"])
                    asked = await pages[1].until("game", turn="black")
                    while not asked["moves"]:
                        asked = await pages[1].until("game")
                    if json.loads(pages[0].heard[-1])["past"] != ["0"] or asked["past"] != [f"{card}p"]:
                        continue
                    await pages[1].send(type="move", move="Bet", ply=asked["step"])
                    while (await pages[0].until("game"))["past"] != ["0", "0pb"]:
                        pass
                    return pages[0].heard
            raise AssertionError("no such deal")

        return run(work())

    assert heard(one) == heard(other)


def test_the_review_shows_the_state_and_what_both_sides_saw() -> None:
    frames, review, kept = two(DARK_HEX, 1)
    plies = review["plies"]
    assert [ply["san"] for ply in plies[1:]] == kept["actions"] and len(plies) == len(kept["actions"]) + 1
    assert [ply["turn"] for ply in plies[:-1]] == kept["seats"]
    assert plies[0]["truth"].split() == ["."] * 9 and plies[0]["black"] == ""
    for color, heard in zip(chess.COLOR_NAMES[::-1], frames, strict=True):
        assert plies[-1][color] == [each for each in heard if each["type"] == "game"][-1]["past"][-1]
    assert plies[-1]["truth"].splitlines()[-1] in ("White +1, Black -1", "White -1, Black +1")
    again = text_board(DARK_HEX).opened(json.dumps(kept), settings())
    assert text_board(DARK_HEX).review(again) == {key: review[key] for key in ("tags", "over", "plies")}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{}", "no game of OpenSpiel"),
        ("[" * 2000, "no game of OpenSpiel"),
        ('{"history": [0], "game": "leduc_poker"}', "'leduc_poker', expected one of 'kuhn_poker'"),
        ('{"history": [0, 0], "game": "kuhn_poker"}', "of nature, expected"),
        ('{"history": [0, 1, 7], "game": "kuhn_poker"}', "got 7, expected one of"),
        ('{"history": [0, 1, 0, 0, 0], "game": "kuhn_poker"}', "after the end"),
    ],
)
def test_what_is_no_game_is_refused(text: str, says: str) -> None:
    with pytest.raises(BadGame, match=says.replace("[", r"\[")):
        text_board("kuhn_poker").opened(text, settings())


def test_what_is_no_answer_is_refused_with_a_reason() -> None:
    async def work() -> list[str]:
        async with served(settings(HUMAN, HUMAN), text_board(DARK_HEX)) as at:
            white, black = await at.page(0), await at.page(1)
            asked = await white.until("game", turn="white")
            found = []
            for page, text, step in ((white, "z9", asked["step"]), (white, "a1", 99), (black, "a1", 0)):
                await page.send(type="move", move=text, ply=step)
                found.append((await page.until("refused"))["why"])
            await white.send(type="move", move="2", ply=asked["step"])
            asked = await white.until("game", turn="black")
            await white.send(type="resign")
            await white.until("table", playing=False)
            await white.send(type="analyse", game=1)
            return [*found, (await white.until("refused"))["why"], *asked["history"]]

    reasons = run(work())
    assert ["expected an action" in reasons[0], "changed" in reasons[1], "your turn" in reasons[2]] == [True] * 3
    assert "not analysed" in reasons[3] and reasons[4:] == ["b1"]


@pytest.mark.slow
def test_an_engine_plays_and_a_new_game_takes_no_position() -> None:
    async def work() -> dict[str, Any]:
        async with served(settings(HUMAN, "random"), text_board(DARK_HEX)) as at:
            page = await at.page()
            await to_the_end([page], 1)
            wish = {"engine": "random", "color": "black", "time": 1}
            await page.send(type="new", fen="8/8/8/8/8/8/8/8 w - - 0 1", **wish)
            assert "FEN" in (await page.until("refused"))["why"]
            await page.send(type="new", **wish)
            return await page.until("game", turn="black")

    assert run(work())["color"] == "black"


def test_the_command_opens_a_game_and_begins_one(
    tmp_path: Path, opened_boards: list[Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "game.json").write_text('{"history": [0, 1, 0, 0], "game": "kuhn_poker", "white": "a", "black": "b"}')
    monkeypatch.chdir(tmp_path)
    for arguments in (["game.json"], []):
        command = ["board", *arguments, "--game", "openspiel:kuhn_poker", "--port", "0", "--no-open"]
        assert main(command) == 0, capsys.readouterr().err
    (kind, reviewed), (_, nothing) = opened_boards
    assert nothing is None and kind.page == "text" and reviewed.plies == 2
    assert kind.review(reviewed)["tags"] == {"White": "a", "Black": "b"}
    for arguments, says in (
        (["--game", "openspiel:dark_hx"], "did you mean"),
        (["game.json", "--game", "openspiel:leduc_poker"], "expected one of 'leduc_poker'"),
    ):
        code = main(["board", *arguments, "--port", "0", "--no-open"])
        said = capsys.readouterr()
        assert (code, said.out, said.err.count("\n")) == (2, "", 1) and says in said.err, said.err

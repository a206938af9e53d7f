"""Games over the websocket: what a page is given, what it may ask, what is kept; the second seat and its invitation."""

from __future__ import annotations

import asyncio
import datetime
import json
from pathlib import Path
from typing import Any

import chess
import psutil
import pytest

from darkchess.fog.game.record import read_pgn
from klss.play.outcome import Outcome
from klss_app.front import Front, front_of
from klss_app.kept_games import HUMAN, Earlier
from klss_app.known.known import over_document
from tests.klss_app.web.pages import FIRST, FOREIGN, KINDS, Page, Served, served, settings
from tests.table import ghost_hunt, hidden_tictactoe
from uci_bridge.child_processes import guard
from uci_bridge.kits.named import kit_named

AGREED = over_document(Outcome(None, "agreement"))


def two(kind: Front | None = None, **rest: Any) -> Any:
    """A room of two people."""
    return served(settings(HUMAN, HUMAN, **rest), kind)


async def seated(at: Served) -> tuple[Page, Page]:
    """Both people's pages, the game having begun."""
    white, black = await at.page(0), await at.page(1)
    for page in (white, black):
        await page.until("game")
    return white, black


def wish(at: Served, **rest: Any) -> dict[str, Any]:
    return {"engine": at.room.described(at.room.seats[0])["engine"], "color": "white", "time": 1, **rest}


async def test_a_game_begins_with_the_first_page_and_goes_on_move_by_move() -> None:
    async with served(settings()) as at:
        page = await at.page()
        game = await page.until("game")
        assert (game["color"], game["ply"], game["turn"], game["clock"]) == ("white", 0, "white", None)
        assert game["board"] == "????????/????????/????????/????????/8/8/PPPPPPPP/RNBQKBNR"
        assert len(game["moves"]) == 20
        mine = await page.plays("Nf3")
        assert (mine["history"], mine["last"], mine["moves"]) == (["Nf3"], ["g1", "f3"], [])
        answered = await page.until("game")
        assert answered["ply"] == 2 and answered["history"] == ["Nf3", "?"]
        assert answered["said"][-1].startswith("Black moved.")


@KINDS
async def test_what_is_no_answer_is_refused_and_an_old_one_does_not_count(kind: Front) -> None:
    async with two(kind) as at:
        white, black = await seated(at)
        while white.game.get("question", "sense") != "sense":
            await white.until("game")
        number = white.game.get("step", 0)
        for page, text, to in ((white, "Qxq9", number), (white, "e4", 99), (black, "e5", 0)):
            await page.send(type="move", move=text, ply=to)
            assert (await page.until("refused"))["of"] == "move"
        assert (await white.plays(*FIRST[kind.kit.name]))["turn"] == "black"


@KINDS
async def test_the_clock_of_a_human_who_begins_stands_still_until_the_turn_is_over(kind: Front) -> None:
    async with two(kind, clock=(0.5, 0.0)) as at:
        white, black = await seated(at)
        for page in (white, black):
            assert page.game["clock"] == {"white": 500, "black": 500, "running": None}
        await asyncio.sleep(0.7)
        await white.plays(*FIRST[kind.kit.name])
        assert white.game["clock"]["white"] == 500 and 300 < white.game["clock"]["black"] <= 500
        over = await white.until("game", over=over_document(Outcome(chess.WHITE, "flag")))
        assert over["clock"]["running"] is None and over["clock"]["black"] == 0


async def test_pages_are_told_that_something_is_loading_and_when_it_is_there() -> None:
    async with served(settings(HUMAN, FOREIGN.replace(" good", " 'slow start'"))) as at:
        page = await at.page()
        assert (await page.until("game"))["turn"] == "white", "the human may move meanwhile"
        assert (await (await at.page()).next())["loading"]
        await page.until("room", loading=False)


@KINDS
async def test_compiled_code_is_loaded_by_a_turn_of_each_side(kind: Front) -> None:
    async with two(kind) as at:
        await asyncio.to_thread(at.room.warm_up)
        white = await at.page(0)
        assert not (await white.next())["loading"]
        await at.page(1)
        assert (await white.until("game"))["ply"] == 0


async def test_resigning_ends_a_game_also_while_the_engine_thinks_and_everything_is_shown_then() -> None:
    """Nothing before, and no process is left that thinks on about a game that is over."""
    guard.tell("-", 0)  # it runs from now on
    others = set(psutil.Process().children())
    async with served(settings(black="klss2021", time_s=600.0, nodes=None)) as at:
        page = await at.page()
        await page.plays("e4")
        await page.send(type="review", game=1)
        assert (await page.until("refused"))["of"] == "review"
        await page.send(type="resign")
        assert (await page.until("game"))["over"] == over_document(Outcome(chess.BLACK, "resign"))
        room = await page.until("room")
        assert room["last"] == 1 and not room["playing"]
        await page.send(type="review", game=1)
        review = await page.until("review")
        assert [ply["san"] for ply in review["plies"]] == [None, "e4"]
        assert review["plies"][1]["truth"] == "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR"
        await page.send(type="pgn", game=1)
        pgn = (await page.until("pgn"))["pgn"]
        assert at.kept == [pgn] and read_pgn(pgn)[0].moves == (chess.Move.from_uci("e2e4"),)
    while set(psutil.Process().children()) - others:
        await asyncio.sleep(0.02)


async def test_a_rematch_swaps_the_colours_and_a_new_game_is_as_wished() -> None:
    left = Earlier(("e2e4", "e7e5"), {}, datetime.datetime.now(datetime.UTC))
    async with served(settings(earlier=left)) as at:
        page = await at.page()
        await page.until("game", ply=2)
        await page.send(type="resign")
        await page.until("room", playing=False)
        await page.send(type="rematch")
        game = await page.until("game", over=None)
        assert (game["number"], game["color"]) == (2, "black") and game["ply"] < 2, "the next one begins anew"
        wished = wish(at, time=None, clock=[60, 1], fen="4k3/P7/8/8/8/8/8/4K3 w - - 0 1")
        await page.send(type="new", **wished)
        game = await page.until("game", number=3)
        assert game["clock"]["black"] == 60000 and "a7a8n" in game["moves"]
        for bad in ({"clock": [0, 1]}, {"color": 3}, {"clock": "x"}, {"clock": [1e9, 0]}, {"time": 0}):
            await page.send(type="new", **{**wished, **bad})
            await page.until("error")
        for bad in ({"engine": "cmd:sh"}, {"fen": "8/8"}):
            await page.send(type="new", **{**wished, **bad})
            assert (await page.until("refused"))["of"] == "new"


@KINDS
async def test_two_people_get_a_seat_each_may_agree_to_a_draw_and_play_again_with_colours_swapped(
    kind: Front, tmp_path: Path
) -> None:
    async with two(kind) as at:
        white = await at.page(0)
        assert (await white.until("room"))["waiting"]
        black = await at.page(1)
        await black.until("game")
        await white.plays(*FIRST[kind.kit.name])
        assert (await black.until("game", turn="black"))["history"] == ["?"]
        await black.send(type="new", **wish(at, engine="klss2021"))
        assert (await black.until("refused"))["of"] == "new"
        for number in (1, 2):
            offers, accepts = (white, black) if number == 1 else (black, white)
            before = accepts.game
            await offers.send(type="draw", accepts=False)
            offered = await accepts.until("game", offer="white")
            assert number > 1 or offered == {**before, "offer": "white"}, "nothing but that it was made"
            await accepts.send(type="draw", accepts=True)
            for page in (white, black):
                assert (await page.until("game", over=AGREED))["offer"] is None
                assert (await page.until("room", playing=False))["last"] == number
                await page.send(type="rematch")
            for page, color in ((offers, "black"), (accepts, "white")):
                game = await page.until("game", number=number + 1)
                assert (game["color"], game["offer"]) == (color, None)
        kept = at.kept[0]
    # The kept game says how it ended, and is read again.
    assert kind.review(kind.opened(kept))["over"] == AGREED
    if kind.kit.name == "rbc":
        assert json.loads(kept)["win_reason"] is None
        reconchess = pytest.importorskip("reconchess")
        (tmp_path / "game.json").write_text(kept)
        assert reconchess.GameHistory.from_file(str(tmp_path / "game.json")).get_win_reason() is None
    else:
        assert '[Termination "agreement"]' in kept
        assert read_pgn(kept)[0].outcome == Outcome(None, "agreement")


async def test_the_others_next_move_ends_an_offer_and_an_engine_is_offered_nothing() -> None:
    async with two() as at:
        white, black = await seated(at)
        await white.send(type="draw", accepts=False)
        await black.until("game", offer="white")
        assert (await (await at.page(1)).until("game"))["offer"] == "white"  # a page that comes back finds it
        await white.plays("e4")
        assert (await black.until("game", ply=1))["offer"] == "white"
        await black.send(type="move", move="e5", ply=1)
        # On its way when the move was made: it finds no offer, and makes none.
        await black.send(type="draw", accepts=True)
        assert (await white.until("game", ply=2))["offer"] is None
        await white.plays("d4")
        game = await black.until("game", ply=3)
        assert game["offer"] is None and game["over"] is None
    async with served(settings()) as at:
        page = await at.page()
        await page.until("game")
        await page.send(type="draw", accepts=False)
        await page.until("refused", of="draw")


async def test_two_tabs_that_ask_at_once_begin_one_game_and_one_that_is_left_is_kept_first() -> None:
    async with served(settings()) as at:
        page, second = await at.page(), await at.page()
        await page.plays("e4")
        await page.send(type="new", **wish(at))
        await second.send(type="new", **wish(at))
        await page.until("game", number=3)
        assert at.room.playing
        await page.send(type="resign")
        await page.until("room", playing=False, last=3)
        await page.send(type="rematch")
        await second.send(type="rematch")
        assert (await page.until("game", number=4))["color"] == "black"
        await page.send(type="resign")
        assert (await page.until("room", playing=False))["last"] == 4
        record = read_pgn(at.kept[0])[0]
        assert len(record.moves) > 0 and record.outcome is None
        assert len(at.kept) == 3  # the second was left before its first move


async def test_of_many_new_games_asked_for_at_once_few_are_begun() -> None:
    async with served(settings()) as at:
        pages = [await at.page() for _ in range(20)]
        for page in pages:
            await page.until("game")
        for page in pages:
            await page.send(type="new", **wish(at))
            await page.send(type="what was asked for is done")
        for page in pages:
            await page.until("error")
        assert 1 < (await (await at.page()).until("game"))["number"] < 8


# ------------------------------------------------------------------------------------------------- the invitation
async def invited(at: Served, code: object, token: object = "") -> tuple[Page, dict[str, Any]]:
    """A page that came by an invitation, and the first answer."""
    page = Page(await at.line())
    await page.send(type="sit", token=token, invite=code)
    return page, await page.next()


@KINDS
async def test_one_browser_is_let_in_and_the_first_seat_never_holds_the_others_token(kind: Front) -> None:
    async with two(kind) as at:
        first, second = at.room.seats
        at.room.origins = ["http://127.0.0.1:8765"]
        white = await at.page(0)
        code = (await white.until("room"))["invitation"][0].partition("/#invite=")[2]
        assert code == second.invitation
        # Two browsers at once: one of them gets the seat.
        answers = await asyncio.gather(*(invited(at, code) for _ in range(2)))
        let_in = [(page, said) for page, said in answers if said["type"] == "seat"]
        assert [said["why"] for _, said in answers if said["type"] == "error"] == ["no invitation"]
        ((black, said),) = let_in
        assert said == {"type": "seat", "token": second.token}
        assert (await black.until("game"))["color"] == "black"
        assert (await white.until("room", waiting=False))["invitation"] is None
        await white.until("game")
        again, refused = await invited(at, code)
        assert refused["why"] == "no invitation" and (await again.socket.receive()).type.name == "CLOSE"
        # A reload comes by the token; and the first seat is the only one that was ever shown the invitation.
        reloaded = await at.page(1)
        assert (await reloaded.until("room"))["invitation"] is None
        for page in (white, black):
            await page.send(type="draw", accepts=False)
        await white.until("room", playing=False)
        await white.send(type="review", game=1)
        await white.until("review")
        heard = {page: b"".join(page.heard) for page in (white, black, reloaded)}
        assert second.token.encode() not in heard[white] and code.encode() in heard[white]
        for page in (black, reloaded):
            assert code.encode() not in heard[page] and first.token.encode() not in heard[page]


async def test_what_is_no_invitation_opens_no_seat_not_even_beside_a_token() -> None:
    async with two() as at:
        first, second = at.room.seats
        for code in ("", "x", 1, True, [second.invitation], first.token, second.token):
            assert (await invited(at, code, first.token))[1]["why"] == "no invitation"
        for token in (second.invitation, None):
            assert (await invited(at, None, token))[1]["why"] == "no seat"
        assert not second.sat
        # A seat that was taken by its own link takes the invitation away.
        code = second.invitation
        await (await at.page(1)).until("room", invitation=None)
        assert (await invited(at, code))[1]["why"] == "no invitation"
    async with served(settings()) as at:
        assert at.room.seats[0].invitation is None


# ------------------------------------------------------------------------------------------------- any other game
@pytest.mark.usefixtures("engines_here")
@pytest.mark.parametrize("name", [hidden_tictactoe.KIT.name, ghost_hunt.KIT.name, "openspiel:kuhn_poker"])
async def test_a_game_without_a_chessboard_is_played_by_its_texts(name: str) -> None:
    board = front_of(kit_named(name))
    async with served(settings(black="random"), board) as at:
        page = await at.page()
        while (game := await page.until("game"))["over"] is None:
            assert (game["said"] or not game["step"]) and bool(game["answers"]) == (game["turn"] == "white")
            if game["answers"]:
                await page.send(type="move", move="none of them", ply=game["step"])
                await page.until("refused", of="move")
                await page.send(type="move", move=game["answers"][-1], ply=game["step"])
        last = (await page.until("room", playing=False))["last"]
        await page.send(type="review", game=last)
        plies = (await page.until("review"))["plies"]
        assert plies[-1]["san"] and plies[-1]["white"] and all(ply["truth"] == "" for ply in plies)
        await page.send(type="analyse", game=last)
        assert (await page.until("analysis"))["of"] == len(plies) - 1
    assert json.loads(at.kept[0])["white" if "openspiel" in name else "White"] == "human"

"""The invitation to the second seat: one browser is let in by it, and nobody sees the other's views by it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from klss_app.kept_games import HUMAN
from klss_app.web.board_game import BoardGame
from klss_app.web.fog_board import FogBoard
from klss_app.web.rbc_board import RbcBoard
from tests.klss_app.web.browsing import DESKTOP, PHONE, Board, opened, serious, turn, typed
from tests.klss_app.web.pages import Page, Served, run, served, settings

HERE, ELSEWHERE = "http://127.0.0.1:8765", "http://192.168.1.7:8765"


async def invited(at: Served, code: object) -> tuple[Page, dict[str, Any]]:
    """A page that came by an invitation, and the first answer."""
    page = Page(await at.line())
    await page.send(type="sit", token="", invite=code)
    return page, await page.next()


async def shown_code(page: Page) -> str:
    """The invitation that a page shows."""
    link = (await page.until("table"))["invitation"][0]
    return str(link.partition("/#invite=")[2])


@pytest.mark.parametrize("kind", [FogBoard(), RbcBoard()], ids=["fog", "rbc"])
def test_one_browser_is_let_in_and_the_first_seat_never_holds_the_others_token(kind: BoardGame) -> None:
    async def work() -> None:
        async with served(settings(HUMAN, HUMAN), kind) as at:
            first, second = at.table.seats
            at.table.origins = [HERE]
            white = await at.page(0)
            code = await shown_code(white)
            assert code == second.invitation
            # Two browsers at once: one of them gets the seat.
            answers = await asyncio.gather(*(invited(at, code) for _ in range(2)))
            let_in = [(page, said) for page, said in answers if said["type"] == "seat"]
            assert [said["why"] for _, said in answers if said["type"] == "error"] == ["no invitation"]
            ((black, said),) = let_in
            assert said == {"type": "seat", "token": second.token}
            assert (await black.until("game"))["color"] == "black"
            assert (await white.until("table", waiting=False))["invitation"] is None
            await white.until("game")
            again, refused = await invited(at, code)
            assert refused["why"] == "no invitation" and (await again.socket.receive()).type.name == "CLOSE"
            # A reload comes by the token; and the first seat is the only one that was ever shown the invitation.
            reloaded = await at.page(1)
            assert (await reloaded.until("table"))["invitation"] is None
            for page in (white, black):
                await page.send(type="draw", accepts=False)
            await white.until("table", playing=False)
            await white.send(type="review", game=1)
            await white.until("review")
            heard = {page: b"".join(page.heard) for page in (white, black, reloaded)}
            assert second.token.encode() not in heard[white] and code.encode() in heard[white]
            for page in (black, reloaded):
                assert code.encode() not in heard[page] and first.token.encode() not in heard[page]

    run(work())


def test_a_seat_that_was_taken_by_its_own_link_takes_the_invitation_away() -> None:
    async def work() -> None:
        async with served(settings(HUMAN, HUMAN)) as at:
            code = at.table.seats[1].invitation
            black = await at.page(1)
            assert (await black.until("table"))["invitation"] is None
            assert (await invited(at, code))[1]["why"] == "no invitation"
            assert (await (await at.page(0)).until("table"))["invitation"] is None

    run(work())


def test_what_is_no_invitation_opens_no_seat_not_even_beside_a_token() -> None:
    async def work() -> None:
        async with served(settings(HUMAN, HUMAN)) as at:
            first, second = at.table.seats
            for code in ("", "x", 1, True, [second.invitation], first.token, second.token):
                page = Page(await at.line())
                await page.send(type="sit", token=first.token, invite=code)
                assert (await page.next())["why"] == "no invitation"
            for token in (second.invitation, None):
                page = Page(await at.line())
                await page.send(type="sit", token=token)
                assert (await page.next())["why"] == "no seat"
            assert not second.sat and (await invited(at, second.invitation))[1]["type"] == "seat"
        async with served(settings()) as at:
            assert at.table.seats[0].invitation is None
            assert (await (await at.page()).until("table"))["invitation"] is None

    run(work())


@pytest.mark.browser
@pytest.mark.parametrize(("scheme", "size"), [("light", DESKTOP), ("dark", PHONE)], ids=["desktop", "phone"])
def test_the_link_is_copied_and_opens_the_seat_in_one_other_browser(
    chromium: Browser, boards: Callable[..., Board], scheme: str, size: dict[str, int]
) -> None:
    board = boards(black=HUMAN)
    board.table.origins = [f"http://127.0.0.1:{board.port}", ELSEWHERE]
    shown = {"color_scheme": scheme, "viewport": size, "permissions": ["clipboard-read", "clipboard-write"]}
    with opened(chromium, board.link(0), **shown) as (white,):
        expect(white.locator("#status")).to_have_text("Waiting for the other player.")
        expect(white.locator("#invitation input")).to_have_count(2)
        for live in ("#typed", "#resign", "#draw"):
            expect(white.locator(live)).to_be_hidden()
        assert serious(white) == []
        assert white.evaluate("document.documentElement.scrollWidth") <= size["width"]
        white.locator("#invitation button").first.click()
        expect(white.locator("#invitation button").first).to_have_text("Copied")
        link = white.evaluate("navigator.clipboard.readText()")
        assert link == f"http://127.0.0.1:{board.port}/#invite={board.table.seats[1].invitation}"
        with opened(chromium, link) as (black,):
            turn(white)
            expect(white.locator("#invitation")).to_be_hidden()
            assert black.evaluate("location.hash") == f"#seat={board.table.seats[1].token}"
            typed(white, "e4")
            turn(black)
            black.reload()
            turn(black)
            with opened(chromium, link) as (third,):
                expect(third.locator("#banner")).to_contain_text("This invitation was used already.")
                expect(third.locator("#play")).to_be_hidden()


@pytest.mark.browser
def test_a_page_that_may_not_use_the_clipboard_copies_the_older_way(
    chromium: Browser, boards: Callable[..., Board]
) -> None:
    board = boards(black=HUMAN)
    board.table.origins = [ELSEWHERE]
    with opened(chromium, board.link(0)) as (white,):
        white.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
        white.evaluate("document.addEventListener('copy', (event) => { window.copied = event.target.value; })")
        white.click("#invitation button")
        expect(white.locator("#invitation button")).to_have_text("Copied")
        assert white.evaluate("window.copied").startswith(ELSEWHERE)

"""The wall in the browser: two true games that look the same to a player send its page the same bytes.

Over the real websocket, both players being pages; the other one plays the hidden moves.
"""

from __future__ import annotations

import asyncio
import datetime
import json
import random
import re
from typing import Any

import chess
import pytest

from darkchess.rbc.game.observation import Sensed
from darkchess.rbc.game.referee import Referee as RbcReferee
from klss_app.front import Front, front_of
from klss_app.kept_games import Earlier, Settings
from klss_app.known.rbc import RbcKnown
from klss_app.web.seats import HumanAtBoard
from tests.klss_app.web.pages import served
from tests.wall.twins import Twins, load, replayed
from uci_bridge.kits.rbc import RBC

TWINS = load()
SUITE = TWINS[::20]
AT_ONCE = 10


async def heard(
    pair: Twins,
    moves: tuple[str, ...],
    kind: Front | None = None,
    *,
    clock: tuple[float, float] | None = None,
    offers: bool = False,
    left: bool = False,
) -> list[bytes]:
    """Every frame that the page of ``pair.color`` gets in a game of these answers; with ``offers`` the other player
    offers a draw before each of its moves, with ``left`` the game was left after them and goes on."""
    begun = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
    plies = replayed(moves, pair.fen).ply if kind is None else len(moves) // 2
    earlier = Earlier(moves, {}, begun) if left else None
    people = {chess.WHITE: "human", chess.BLACK: "human"}
    async with served(Settings(people, fen=pair.fen, seed=1, clock=clock, earlier=earlier), kind) as at:
        seats = {seat.color: i for i, seat in enumerate(at.room.seats)}
        own = await at.page(seats[pair.color])
        await own.until("room")
        other = await at.page(seats[not pair.color])
        await other.until("game")
        while own.game.get("ply") != (plies if left else 0):
            await own.until("game")
        if left and kind is not None:
            while own.game["question"] != ("move" if len(moves) % 2 else "sense"):
                await own.until("game")
            return own.heard
        turn = replayed((), pair.fen).turn
        for i, move in enumerate(() if left else moves):
            mover, waiter = (own, other) if turn == pair.color else (other, own)
            if offers and mover is other:
                await other.send(type="draw", accepts=False)
                for page in (other, own):
                    await page.until("game", offer=chess.COLOR_NAMES[not pair.color])
            await mover.plays(move)
            if kind is None or i % 2:
                while waiter.game["ply"] < mover.game["ply"]:
                    await waiter.until("game")
                turn = not turn
        return own.heard


async def compared(pairs: list[Twins]) -> None:
    async def compare(pair: Twins) -> None:
        a, b = await heard(pair, pair.a), await heard(pair, pair.b)
        assert a == b, pair
        assert len(a) >= len(pair.a)

    for start in range(0, len(pairs), AT_ONCE):
        await asyncio.gather(*map(compare, pairs[start : start + AT_ONCE]))


@pytest.mark.parametrize("pairs", [SUITE, pytest.param(TWINS, marks=pytest.mark.slow)], ids=["some", "all"])
async def test_twins_send_the_same_bytes_to_the_page(pairs: list[Twins]) -> None:
    await compared(pairs)


@pytest.mark.parametrize(("one", "other"), [("a7a6", "h7h6"), ("g8f6", "b8c6")])
@pytest.mark.parametrize("left", [False, True])
async def test_blind_games_that_look_alike_to_a_player_send_it_the_same_bytes(one: str, other: str, left: bool) -> None:
    async def frames(move: str, *then: str) -> list[bytes]:
        answers = ("d3", "e2e4", "d3", move, *then)
        return await heard(Twins("", None, chess.WHITE, (), ()), answers, front_of(RBC), left=left)

    for then in [(), ("d3",)] if left else [("d3", "d2d4")]:
        found = await frames(one, *then)
        assert found == await frames(other, *then)
        games = [each for each in map(json.loads, found) if each["type"] == "game"]
        assert not left or games[0]["history"] == ["d3: e4", "?"], "nothing of what was played before"


async def test_twins_that_go_on_where_they_were_left_send_the_same_bytes_to_the_page() -> None:
    """What was played before is the referee's alone; the page gets what it would have got without the break."""

    for pair in SUITE:
        a, b = await heard(pair, pair.a, left=True), await heard(pair, pair.b, left=True)
        assert a == b, pair
        assert json.loads(a[-1]) == json.loads((await heard(pair, pair.a))[-1])


async def test_with_clocks_nothing_but_the_clocks_differs() -> None:
    clock = re.compile(rb'"clock":\{"white":\d+,"black":\d+,')

    for pair in SUITE[:4]:
        a, b = [await heard(pair, moves, clock=(600.0, 2.0)) for moves in (pair.a, pair.b)]
        assert [clock.sub(b"", frame) for frame in a] == [clock.sub(b"", frame) for frame in b]
        assert any(clock.search(frame) for frame in a)


async def test_an_offer_of_a_draw_says_that_it_was_made_and_no_more() -> None:
    """With offers the twins look the same too, and but for the field that names it a frame is the one before."""

    for pair in SUITE:
        a, b = [await heard(pair, moves, offers=True) for moves in (pair.a, pair.b)]
        assert a == b, pair
        games = [frame for frame in map(json.loads, a) if frame["type"] == "game"]
        made = [i for i in range(1, len(games)) if games[i]["ply"] == games[i - 1]["ply"]]
        assert made
        for i in made:
            assert games[i - 1]["offer"] is None
            assert games[i] == {**games[i - 1], "offer": chess.COLOR_NAMES[not pair.color]}


async def test_a_page_hears_nothing_of_what_she_does_not_see() -> None:
    """The frames of one game, word by word: every piece they place is in its view, no other move is in them."""

    for pair in SUITE:
        game = replayed(pair.a, pair.fen)
        views = game.views(pair.color)
        frames = [json.loads(frame) for frame in await heard(pair, pair.a)]
        shown = [frame for frame in frames if frame["type"] == "game"]
        assert [frame["ply"] for frame in shown] == list(range(len(views)))
        for frame, view in zip(shown, views, strict=True):
            assert frame["board"] == view.fog_fen().split()[0]
            assert frame["past"] == [each.fog_fen().split()[0] for each in views[: view.ply + 1]]
            assert frame["moves"] == [move.uci() for move in view.legal_moves]
            for ply, text in enumerate(frame["history"]):
                own = game.positions[ply].turn == pair.color
                assert own or re.fullmatch(r"\?(x[a-h][1-8])?", text)
            assert set(frame) == {
                "type", "number", "color", "ply", "fullmove", "first", "firstNumber", "board", "past", "turn",
                "moves", "last", "history", "said", "lost", "taken", "over", "names", "clock",
                "offer",
            }  # fmt: skip


class Listened:
    """A seat of Reconnaissance Blind Chess: every message is held against what the player observed."""

    def __init__(self, game: RbcReferee, color: chess.Color) -> None:
        self._game, self._color = game, color
        self._sent: list[dict[str, Any]] = []
        self._seat = HumanAtBoard(RbcKnown, None, self._sent.append)  # type: ignore[arg-type]
        self._seat.begin(color, game.setup)
        self._seen = dict(game.position.pieces)  # what a look showed last
        self.observed = 0

    def tell(self) -> None:
        """Give it what is new."""
        for observation in self._game.observations(self._color)[self.observed :]:
            self._seat.observe(observation)
            self.observed += 1
            if isinstance(observation, Sensed):
                self._seen.update(dict(observation.contents))  # type: ignore[arg-type]
            self._check(self._sent[-1])

    def _check(self, message: dict[str, Any]) -> None:
        own = {square: piece for square, piece in self._game.position.pieces.items() if piece.color == self._color}
        for square, piece in pieces_of(message["board"]).items():
            assert piece == (own.pop(square) if piece.color == self._color else self._seen[square])
        assert not own and message["fullmove"] == self._game.position.fullmove - (self._game.turn > self._color)
        assert set(message) == {
            "color", "ply", "step", "fullmove", "first", "firstNumber", "board", "past", "ages", "turn", "question",
            "moves", "last", "history", "said", "lost", "taken", "over",
        }  # fmt: skip


@pytest.mark.parametrize("fen", [None, "r3k2r/p6p/8/8/8/8/P6P/R3K2R b KQkq - 0 30"], ids=["usual", "castling"])
@pytest.mark.parametrize("color", chess.COLORS, ids=["white", "black"])
def test_a_page_of_reconnaissance_hears_what_its_player_observed(color: chess.Color, fen: str | None) -> None:
    """All messages of random games: own pieces as they stand, enemy pieces as a look showed them last."""
    for seed in range(10):
        rng, game = random.Random(seed), RbcReferee(fen)
        seat = Listened(game, color)
        while game.outcome is None and game.ply < 60:
            seat.tell()
            game.sense(rng.randrange(64))
            seat.tell()
            game.move(rng.choice([None, *game.requests()]))
        assert seat.observed > (3 if fen is None else 2)  # from the second start a king may be taken at once


def pieces_of(text: str) -> dict[int, chess.Piece]:
    """The pieces of a message's board."""
    rows = [re.sub(r"\d", lambda found: "?" * int(found[0]), row) for row in text.split("/")]
    signs = {8 * (7 - i) + file: sign for i, row in enumerate(rows) for file, sign in enumerate(row)}
    return {square: chess.Piece.from_symbol(sign) for square, sign in signs.items() if sign != "?"}

"""The stream of one game, line by line: what is taken for the truth, and when the game is over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

import pytest

from tests.uci_bridge.bot_bench import QUICK
from uci_bridge.bot.dialect import GameEnd, GameFull, GameLine, GameState
from uci_bridge.bot.lichess import Rejected, ServerError
from uci_bridge.bot.stream import GameStream

OLD = GameState(("e2e4",), (1000, 1000), (0, 0))
NEW = GameState(("e2e4", "e7e5"), (1000, 1000), (0, 0))
END = GameEnd("x")
SILENCE = "silence"
"""The server says nothing more, and the connection stays."""


def full(state: GameState, game_id: str = "x") -> GameFull:
    return GameFull(game_id, "fogofwar", "a", "b", None, state)


class Connections:
    """A client whose streams say what they are asked to; one more than there are is an error of the test."""

    def __init__(self, *connections: Sequence[GameLine | Exception | str]) -> None:
        self.left = list(connections)

    async def game(self, game_id: str) -> AsyncIterator[GameLine | None]:
        assert game_id == "x"
        lines = self.left.pop(0)
        yield None
        for line in lines:
            if isinstance(line, Exception):
                raise line
            if isinstance(line, str):
                await asyncio.Event().wait()
                continue
            yield line


def followed(client: Connections) -> GameStream:
    """The stream once it is over."""

    async def work() -> GameStream:
        stream = GameStream("x", client, QUICK)  # type: ignore[arg-type]  # all of a client that a stream uses
        async with asyncio.timeout(10.0):
            await stream.run()
        return stream

    return asyncio.run(work())


@pytest.mark.parametrize(
    "connections",
    [
        pytest.param([[full(OLD), NEW, END]], id="in order"),
        pytest.param([[full(OLD)], [NEW, END, full(NEW), END]], id="the end was queued before the last move"),
        pytest.param([[full(OLD)], [END, ServerError("cut")], [full(NEW), END]], id="and the stream was cut again"),
    ],
)
def test_the_last_moves_are_known_at_the_end(connections: list[list[GameLine | Exception | str]]) -> None:
    client = Connections(*connections)
    stream = followed(client)
    assert stream.over and stream.state == NEW and not client.left


@pytest.mark.parametrize(
    "connections",
    [
        pytest.param([[full(OLD)], [END, SILENCE]], id="silence"),
        pytest.param([[full(OLD)], [END], [Rejected("404", 404)]], id="the server has forgotten the game"),
    ],
)
def test_an_end_without_its_last_moves_is_an_end_all_the_same(
    connections: list[list[GameLine | Exception | str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("uci_bridge.bot.stream._LAST_MOVES_S", 0.2)
    stream = followed(Connections(*connections))
    assert stream.over and stream.state == OLD


def test_the_end_of_another_game_ends_nothing() -> None:
    stream = followed(Connections([full(OLD), GameEnd("y"), NEW, END]))
    assert stream.state == NEW

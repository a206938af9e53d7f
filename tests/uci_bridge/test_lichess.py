"""The client and the dialects: what a server says is checked, bounded and timed; the token is seen nowhere."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import stat
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import chess
import msgspec
import pytest

from darkchess.fog.game.contest import DEFAULT_PLAYER
from klss.play.outcome import Outcome
from klss_app.cli.bot import JsonLines
from tests.uci_bridge.bot_bench import QUICK
from tests.uci_bridge.fake_server import BOT, TOKEN, FakeServer
from uci_bridge.bot.account import engine
from uci_bridge.bot.config import ConfigError, TokenSource, load_config, read_token
from uci_bridge.bot.dialect import LICHESS, PYCHESS, Challenge, GameEnd, GameFull, GameStart, Other
from uci_bridge.bot.lichess import MAX_LINE_BYTES, Account, Client, Refused, Rejected, ServerError, Timing, Token

# The dialects.

PYCHESS_CHALLENGE = {  # fields as the source of pychess-variants has them (seek.py)
    "type": "challenge",
    "challenge": {
        "id": "abcd1234", "challenger": {"name": "anna", "rating": 1500, "title": ""},
        "variant": {"key": "fogofwar"}, "rated": False, "timeControl": {"type": "clock", "limit": 300, "increment": 3},
        "color": "random", "finalColor": "white", "speed": "blitz", "perf": {"name": "fogofwar"}, "level": 0,
        "chess960": False,
    },
}  # fmt: skip
PYCHESS_FULL = {  # game.py, game_full
    "type": "gameFull", "id": "abcd1234", "variant": {"name": "fogofwar"}, "white": {"name": "anna"},
    "black": {"name": "klssbot"}, "initialFen": "None", "createdAt": 1,
    "state": {"type": "gameState", "moves": "e2e4 e7e5", "wtime": 300000, "btime": 299000.5, "winc": 3, "binc": 3,
              "wdraw": False, "bdraw": False, "status": "started"},
}  # fmt: skip
LICHESS_FULL = {  # lichess.org/api, gameFull
    "type": "gameFull", "id": "5IrD6Gzz", "rated": True, "variant": {"key": "fogofwar", "name": "Fog of War"},
    "clock": {"initial": 1200000, "increment": 10000}, "speed": "classical", "createdAt": 1523825103562,
    "white": {"id": "lovlas", "name": "lovlas", "title": "BOT", "rating": 2500},
    "black": {"id": "leela", "name": "leela", "title": None, "rating": 2390}, "initialFen": "startpos",
    "state": {"type": "gameState", "moves": "e2e4", "wtime": 7598040, "btime": 8395220, "winc": 10000, "binc": 10000,
              "status": "resign", "winner": "black"},
}  # fmt: skip


def test_a_challenge_of_pychess_is_read() -> None:
    expected = Challenge("abcd1234", "anna", False, "fogofwar", False, False, 300.0, 3.0)
    assert PYCHESS.event(PYCHESS_CHALLENGE) == expected
    line = json.loads(json.dumps(PYCHESS_CHALLENGE))
    line["challenge"]["timeControl"] = {"type": "correspondence", "daysPerTurn": 3}
    assert PYCHESS.event(line) == replace(expected, initial_s=None, increment_s=None)


def test_a_game_is_read_in_both_dialects() -> None:
    ours, theirs = PYCHESS.game_line(PYCHESS_FULL), LICHESS.game_line(LICHESS_FULL)
    assert isinstance(ours, GameFull) and isinstance(theirs, GameFull)
    assert (ours.variant, ours.fen, ours.bots, ours.rated, ours.state.outcome) == ("fogofwar", None, None, None, None)
    for fen in ("", "None", "startpos", None):
        full = PYCHESS.game_line({**PYCHESS_FULL, "initialFen": fen})
        assert isinstance(full, GameFull) and full.fen is None
    assert ours.state.clock_ms == (300_000, 299_000) and ours.state.increment_ms == (3000, 3000)
    assert (theirs.variant, theirs.fen, theirs.bots, theirs.rated) == ("fogofwar", None, (True, False), True)
    assert theirs.initial_s == 1200.0 and theirs.state.increment_ms == (10_000, 10_000)
    assert theirs.state.outcome == Outcome(chess.BLACK, "resign")


def test_other_lines_are_tolerated() -> None:
    for kind in ("ping", "chatLine", "terminated", "analysisStart", "opponentGone", 7, None):
        assert isinstance(PYCHESS.event({"type": kind}), Other) and isinstance(PYCHESS.game_line({"type": kind}), Other)
    assert PYCHESS.event({"type": "gameStart", "game": {"id": "a1", "chess960": "False"}}) == GameStart("a1")
    assert LICHESS.event({"type": "gameStart", "game": {"gameId": "a1", "fullId": "a1bc"}}) == GameStart("a1")
    assert PYCHESS.game_line({"type": "gameEnd", "game": {"id": "a1"}}) == GameEnd("a1")


def test_what_a_server_leaves_open_is_read_as_unknown() -> None:
    line = json.loads(json.dumps(PYCHESS_CHALLENGE))
    for challenger in (None, {"name": None, "id": None, "title": None}):
        line["challenge"]["challenger"] = challenger
        challenge = PYCHESS.event(line)
        assert isinstance(challenge, Challenge) and challenge.id == "abcd1234" and not challenge.player_is_bot
    for path in ("white", "white.name", "variant.key", "state.winner"):
        full = PYCHESS.game_line(changed(path, None))
        assert isinstance(full, GameFull) and full.black == "klssbot"


def changed(path: str, value: Any) -> dict[str, Any]:
    line: dict[str, Any] = json.loads(json.dumps(PYCHESS_FULL))
    *way, last = path.split(".")
    target = line
    for key in way:
        target = target[key]
    target[last] = value
    return line


@pytest.mark.parametrize(
    "line",
    [
        changed("id", "../../account"),
        changed("id", "x" * 33),
        changed("id", 7),
        changed("white.name", "a\nb"),
        changed("white.name", "x" * 1000),
        changed("variant", {"name": 3}),
        changed("initialFen", "8/8\x00"),
        changed("state.moves", "e2e4 e9e5"),
        changed("state.moves", "e2e4 " * 5000),
        changed("state.moves", None),
        changed("state.wtime", 1e300),
        changed("state.wtime", -1e300),
        changed("state.btime", "12"),
        changed("state", []),
        {"type": "gameState", "moves": "", "wtime": 1},
        {"type": "gameEnd", "game": 3},
    ],
)
def test_what_is_malformed_or_out_of_bounds_is_refused(line: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        PYCHESS.game_line(line)


# The client.


def use(server: FakeServer, work: Callable[[Client], Awaitable[Any]], *, token: str = TOKEN) -> Any:
    async def run() -> Any:
        async with Client(server.url, Token(token), PYCHESS, QUICK) as client:
            return await work(client)

    return asyncio.run(run())


async def lines_of(stream: Any, count: int) -> list[Any]:
    found = []
    async for line in stream:
        found.append(line)
        if len(found) == count:
            break
    await stream.aclose()
    return found


def test_the_account_is_that_of_the_token() -> None:
    with FakeServer() as server:
        assert use(server, lambda client: client.account()) == Account(BOT, "BOT")
        with pytest.raises(Refused):
            use(server, lambda client: client.account(), token="wrong")
    answer = b'HTTP/1.1 200 OK\r\nContent-Length: 25\r\n\r\n{"username":"a\\u001b[2J"}'
    assert against(answer, lambda client: client.account(), timing=SHORT) == Account("a?[2J")


def test_the_event_stream_says_what_the_bot_can_play_and_gives_keep_alives() -> None:
    with FakeServer(ping_s=0.02) as server:
        server.challenge("anna")
        found = use(server, lambda client: lines_of(client.events(), 3))
        assert found[0] is None and isinstance(found[1], Challenge) and found[2] == Other("ping")
        wanted = [headers["X-PyChess-Bot-Capabilities"] for headers in server.seen_headers]
        assert json.loads(wanted[0]) == {"version": 1, "variants": ["fogofwar"]}
    with FakeServer(variants=("chess",)) as server, pytest.raises(Rejected, match="400"):
        use(server, lambda client: lines_of(client.events(), 1))


def test_too_many_requests_silences_every_call_for_as_long_as_the_server_says() -> None:
    with FakeServer() as server:

        async def work(client: Client) -> float:
            server.refuse_all = 429
            with pytest.raises(ServerError) as first:
                await client.account()
            server.refuse_all = None
            calls = server.done["account"]
            with pytest.raises(ServerError) as second:
                await client.abort("abc")
            assert server.done["account"] == calls and server.done["bot"] == 0  # it never left
            assert 0 < second.value.wait_s <= first.value.wait_s
            return first.value.wait_s

        # The fake's plain 429 has no Retry-After: the dialect's own silence.
        assert use(server, work) == PYCHESS.quiet_s


@pytest.mark.parametrize(
    ("header", "wait_s"), [("3", 3.0), ("soon", 10.0), ("1e400", 600.0), ("-5", 0.1), ("nan", 0.1)]
)
def test_the_pause_that_a_server_asks_for_is_believed_within_bounds(header: str, wait_s: float) -> None:
    answer = f"HTTP/1.1 429 Slowly\r\nContent-Length: 0\r\nRetry-After: {header}\r\n\r\n"
    with pytest.raises(ServerError) as limited:
        against(answer.encode(), lambda client: client.account(), timing=SHORT)
    assert limited.value.wait_s == wait_s


@pytest.mark.parametrize(
    ("status", "error"),
    [(302, Rejected), (400, Rejected), (404, Rejected), (409, Rejected), (401, Refused), (403, Refused),
     (408, ServerError), (500, ServerError), (503, ServerError)],
)  # fmt: skip
def test_every_status_is_a_kind_of_error_and_no_redirect_is_followed(status: int, error: type[ServerError]) -> None:
    with FakeServer() as server:
        server.refuse_all = status
        with pytest.raises(error, match=str(status)):
            use(server, lambda client: client.account())
        assert server.done["account"] == 1


def against(answer: bytes, work: Callable[[Client], Awaitable[Any]], *, timing: Timing, trickle: bytes = b"",
            keep_open: bool = True) -> Any:  # fmt: skip
    """Work with a server that answers every request so, and then with a byte of ``trickle`` every 20 ms."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        try:
            for byte in trickle:
                await writer.drain()
                await asyncio.sleep(0.02)
                writer.write(bytes([byte]))
            await writer.drain()
            if keep_open:
                await asyncio.sleep(1.0)
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def run() -> Any:
        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        try:
            async with Client(f"http://127.0.0.1:{port}", Token(TOKEN), PYCHESS, timing) as client:
                return await work(client)
        finally:
            server.close()

    return asyncio.run(run())


OPEN = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\n"
SHORT = replace(QUICK, idle_s=0.1, call_s=0.2)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"x" * (MAX_LINE_BYTES + 1), "more than"),
        (b'{"type": "pi', "nothing came"),  # half a line, then silence
        (b"", "nothing came"),
    ],
)
def test_a_stream_of_nonsense_ends_in_an_error_that_says_what(body: bytes, says: str) -> None:
    with pytest.raises(ServerError, match=says):
        against(OPEN + body, lambda client: lines_of(client.events(), 10), timing=SHORT)


@pytest.mark.parametrize("answer", [b"HTTP/1.1 200 OK\r\nX: ", OPEN])
def test_a_stream_that_trickles_is_one_in_which_nothing_comes(answer: bytes) -> None:
    with pytest.raises(ServerError, match="nothing came"):
        against(
            answer, lambda client: asyncio.wait_for(lines_of(client.events(), 9), 3.0), timing=SHORT, trickle=b"x" * 500
        )


NONSENSE = [
    b"[]", b"<html>", b"\xff", b'{"type":"pi\xff"}', b'{"type":"\xed\xa0\x80"}', b'{"type":"\\ud800"}', b"\x00",
    b"[" * 10_000, b'{"type":"challenge","challenge":{"id":7}}', b'{"type":"gameStart"}', b'{"type":"gameState"}',
    b'{"type":"gameFull","id":"a"}', b'{"type":"ping","x":1e999}', b'{"type":"gameStart","game":{"id":"\xff"}}',
]  # fmt: skip


@pytest.mark.parametrize("line", NONSENSE)
def test_a_line_of_nonsense_is_left_out_of_the_events_and_ends_only_the_stream_of_a_game(line: bytes) -> None:
    body = OPEN + line + b'\n{"type":"last"}\n'
    events = against(body, lambda client: lines_of(client.events(), 99), timing=QUICK, keep_open=False)
    assert events[0] is None and events[-1] == Other("last") and len(events) <= 3
    try:
        against(body, lambda client: lines_of(client.game("a"), 99), timing=QUICK, keep_open=False)
    except ServerError as error:
        assert str(error).isprintable()


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n[1]",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{]}",
        b'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{"id":"\xff"}',
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",  # an account without a name
        b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 100_000,
        b'HTTP/1.1 200 OK\r\nContent-Length: 60005\r\n\r\n{"x":' + b"[" * 60_000,
        b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{",
        b"SSH-2.0-OpenSSH_9.9\r\n",
    ],
)
def test_an_answer_of_nonsense_is_an_error(answer: bytes) -> None:
    with pytest.raises(ServerError):
        against(answer, lambda client: client.account(), timing=SHORT)


@pytest.mark.parametrize("length", [b"84000", b"999999999"])
def test_a_status_tells_what_it_tells_however_long_its_page_is(length: bytes) -> None:
    answer = b"HTTP/1.1 404 Not Found\r\nContent-Length: " + length + b"\r\n\r\n" + b"<p>" * 28_000
    for work in (lambda client: client.account(), lambda client: lines_of(client.game("a"), 2)):
        with pytest.raises(Rejected, match=r"404$") as rejected:
            against(answer, work, timing=SHORT)
        assert rejected.value.status == 404


def test_ids_of_games_that_could_change_an_address_never_get_there() -> None:
    with FakeServer() as server, pytest.raises(ValueError, match="id"):
        use(server, lambda client: client.abort("../../account"))


# The token.


def test_no_error_and_no_traceback_of_the_client_shows_the_token(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    seen = []
    echo = b"HTTP/1.1 403 No\r\nContent-Length: 40\r\n\r\n" + TOKEN.encode().ljust(40)
    answers = [OPEN + b"<html>\n", echo, b"SSH\r\n", b""]
    for answer in answers:
        for work in (lambda client: client.account(), lambda client: lines_of(client.events(), 5)):
            try:
                against(answer, work, timing=SHORT, keep_open=False)
            except ServerError as error:
                seen.append("".join(traceback.format_exception(error)) + repr(error) + repr(vars(error)))
    assert len(seen) >= 6
    assert not any(TOKEN in text for text in [*seen, caplog.text, repr(Token(TOKEN)), f"{Token(TOKEN)}"])


def test_the_log_is_one_json_object_a_line_without_the_token_nor_what_a_terminal_obeys() -> None:
    formatter = JsonLines(Token(TOKEN))
    try:
        raise RuntimeError(f"header: Bearer {TOKEN}")
    except RuntimeError as error:
        info = (type(error), error, error.__traceback__)
    record = logging.LogRecord("uci_bridge.x", logging.ERROR, "f", 1, "a\nb %s", (TOKEN,), info)
    said = "a\x1b[2J\x9b\u202e\u2028♞é"
    record.fields = {"game": said, "token": TOKEN, "event": "not mine"}
    text = formatter.format(record)
    assert text.isascii() and text.isprintable() and TOKEN not in text
    line = json.loads(text)
    assert line["event"] == "a\nb [token]" and line["game"] == said and "RuntimeError" in line["traceback"]


def test_a_token_from_the_environment_is_taken_out_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THE_TOKEN", TOKEN)
    assert read_token(TokenSource(env="THE_TOKEN")).header() == {"Authorization": f"Bearer {TOKEN}"}
    assert "THE_TOKEN" not in os.environ


@pytest.mark.parametrize(("mode", "warned"), [(0o600, False), (0o400, False), (0o640, True), (0o644, True)])
def test_a_token_file_that_others_may_read_is_warned_about(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, mode: int, warned: bool
) -> None:
    path = tmp_path / "token"
    path.write_text(TOKEN + "\n")
    path.chmod(mode)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    read_token(TokenSource(file=str(path)))
    assert ("others may read" in caplog.text) == warned and TOKEN not in caplog.text


@pytest.mark.parametrize("text", ["", "two words", "x" * 600, "a\nb", "ä" * 10])
def test_what_is_no_token_is_refused_and_not_quoted(tmp_path: Path, text: str) -> None:
    path = tmp_path / "token"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(ConfigError, match="holds no token") as refused:
        read_token(TokenSource(file=str(path)))
    assert not text or text not in str(refused.value)


# The configuration.

RIGHT = "url: https://example.org\ntoken: {env: THE_TOKEN}\n"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[", "line"), ("a: b: c", "line 1"), ("- url", ""), ("", ""), ("a: &a [*a]", "unknown field"),
        ("token: {env: X}", "url"), ("url: https://example.org", "token"),
        (RIGHT + "engin: {}", "engin"), (RIGHT + "accept: {humanz: yes}", "humanz"),
        (RIGHT + "accept: {concurrency: 0}", "concurrency"), (RIGHT + "accept: {concurrency: many}", "concurrency"),
        (RIGHT + "accept: {initial_s: [9, 3]}", "initial_s"), (RIGHT + "accept: {initial_s: [.nan, 3]}", "initial_s"),
        (RIGHT + "accept: {increment_s: [0, .inf]}", "increment_s"), (RIGHT + "accept: {rated: []}", "rated"),
        (RIGHT + "accept: {rated: [sometimes]}", "rated"), (RIGHT + "engine: {nodes: many}", "nodes"),
        (RIGHT + "engine: {nodes: &n [*n]}", "nodes"), (RIGHT + "engine: {nodes: 100000001}", "nodes"),
        (RIGHT + "engine: {evaluator: nobody}", "evaluator"),
        (RIGHT + "engine: {command: [x], configuration: y}", "configuration"),
        (RIGHT + "engine: {command: [x], ponder: true}", "ponder"), (RIGHT + "engine: {move_time_s: 0}", "move_time_s"),
        (RIGHT + "dialect: chesscom", "dialect"), (RIGHT + "greeting: 2001-99-99", ""),
        (RIGHT + 'records: "a\\0b"', "records"), (RIGHT + "records: ~nosuchuser/games", "records"),
        ("url: https://example.org\ntoken: {file: ~nosuchuser/t}", "token.file"),
        ("url: http://example.org\ntoken: {env: X}", "url"), ("url: example.org\ntoken: {env: X}", "url"),
        ("url: https://me:pass@example.org\ntoken: {env: X}", "url"),
        ("url: https://me:pass@exam\u2100ple.org\ntoken: {env: X}", "url"),
        ("url: https://me:pass@example.org:x\ntoken: {env: X}", "url"),
        ("url: https://example.org\ntoken: {env: X, file: y}", "token"),
        ("url: https://example.org\ntoken: {}", "token"),
        ("url: https://example.org\ntoken: lip_Secret12", "token"),
        ("url: https://example.org\ntoken: {lip_Secret12: 1}", "token"),
        ("url: https://example.org\ntoken: {env: [lip_Secret12]}", "token"),
        ("url: https://example.org\ntoken: {lip_Secret12: 1]", "line 2"),
    ],
)  # fmt: skip
def test_a_bad_configuration_is_one_line_that_names_the_key(tmp_path: Path, text: str, key: str) -> None:
    path = tmp_path / "bot.yml"
    path.write_text(text)
    with pytest.raises(ConfigError) as refused:
        load_config(path)
    message = str(refused.value)
    assert message.startswith(f"{path}: ") and key in message and message.isprintable()
    assert "lip_Secret" not in message and "me:" not in message


def test_a_token_put_in_the_wrong_place_is_not_quoted(tmp_path: Path) -> None:
    for source in (TokenSource(env="lip_Secret12abc"), TokenSource(file=str(tmp_path / "lip_Secret12abc"))):
        with pytest.raises(ConfigError) as refused:
            read_token(source)
        assert "lip_Secret" not in str(refused.value)


def test_the_example_in_the_documents_is_a_configuration_that_plays_with_the_default_player(tmp_path: Path) -> None:
    example = Path(__file__).resolve().parents[2] / "docs" / "bot.yml"
    path = tmp_path / "bot.yml"
    path.write_text(example.read_text())
    config = load_config(path)
    assert config.url == "https://www.pychess.org" and config.dialect == "pychess"
    assert config.records == str(tmp_path / "klss-games") and config.engine.configuration == DEFAULT_PLAYER


@pytest.mark.parametrize(
    ("text", "ponders"),
    [
        ("engine: {configuration: kluss}", True),
        ("engine: {configuration: kluss, ponder: false}", False),
        ("engine: {configuration: klss2021}", False),
        ("engine: {configuration: kluss, evaluator: stockfish}", False),
        ("engine: {configuration: kluss}\naccept: {concurrency: 2}", False),
        ("engine: {configuration: kluss, ponder: true}\naccept: {concurrency: 2}", True),
    ],
)
def test_an_engine_that_can_ponders_where_it_has_the_cores_for_itself(tmp_path: Path, text: str, ponders: bool) -> None:
    path = tmp_path / "bot.yml"
    path.write_text(RIGHT + text)
    assert ("ponder=True" in " ".join(engine(load_config(path).engine, tmp_path).process.command)) is ponders


def test_paths_count_from_the_folder_of_the_configuration(tmp_path: Path) -> None:
    path = tmp_path / "bot.yml"
    path.write_text("url: https://example.org\ntoken: {file: t}\nrecords: r\n")
    config = load_config(path)
    assert (config.token.file, config.records) == (str(tmp_path / "t"), str(tmp_path / "r"))

"""``bot.yml``: what a bot plays, where, with which engine. A bad file is refused in one line that names the key.

docs/bot.md documents the keys; all but ``url`` and ``token`` have defaults. The token itself is never in the file:
``token`` says where it is, and error messages never quote what stands under that key.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import stat
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

import msgspec.yaml

from darkchess.evaluation.registry import check_evaluator_name
from klss.play.messages import Nodes
from klss.support.text import read_text
from uci_bridge.bot.dialect import Challenge
from uci_bridge.bot.lichess import Token, is_loopback
from uci_bridge.errors import UciBridgeError

log = logging.getLogger(__name__)

_MAX_BYTES = 1 << 16
_MAX_TOKEN = 512
_MAX_S = 366 * 24 * 3600

_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=4096, pattern=r"^[^\x00]*\Z")]
_Count = Annotated[int, msgspec.Meta(ge=1, le=1000)]
_Seconds = Annotated[float, msgspec.Meta(ge=0, le=_MAX_S)]


class ConfigError(UciBridgeError, ValueError):
    """The configuration, or the token that it points to, is not usable. One line that names the key."""


_TOKEN = "token: expected exactly one of env: NAME and file: PATH"


class TokenSource(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The place of the token: exactly one of the two."""

    env: _Name | None = None  # name of an environment variable
    file: _Name | None = None  # path of a file that holds only the token; relative to the folder of ``bot.yml``

    def __post_init__(self) -> None:
        if (self.env is None) == (self.file is None):
            raise ValueError(_TOKEN)


class EngineConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The engine that plays."""

    # one of ours: a name, ``NAME,field=value,…`` or a TOML file; ``kluss`` if there is no ``command`` either
    configuration: _Name | None = None
    # another engine that speaks the protocol: program and arguments
    command: Annotated[list[_Name], msgspec.Meta(min_length=1, max_length=64)] | None = None
    evaluator: _Name | None = None  # an evaluator's name (``darkchess.evaluation.registry``); for our engine only
    # limits of a move; without them only the clock limits it
    nodes: Nodes | None = None
    move_time_s: Annotated[float, msgspec.Meta(gt=0, le=_MAX_S)] | None = None
    margin_ms: Annotated[int, msgspec.Meta(ge=0, le=60_000)] = 1000  # kept back on the clock for the network's delay
    # whether our engine ponders. None: if it can, and only with ``concurrency: 1``, as otherwise it would take the
    # cores from the engines of the other games
    ponder: bool | None = None

    def __post_init__(self) -> None:
        if self.command is not None and (self.configuration, self.evaluator, self.ponder) != (None, None, None):
            raise ValueError("command: got it beside configuration, evaluator or ponder, which are for our engine")
        if self.evaluator is not None:
            check_evaluator_name(self.evaluator)


class AcceptRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The rules for accepting games."""

    # which are accepted of ``casual`` (or false) and ``rated`` (or true)
    rated: Annotated[list[bool | Literal["casual", "rated"]], msgspec.Meta(min_length=1)] = msgspec.field(
        default_factory=lambda: ["casual"]
    )
    humans: bool = True
    bots: bool = False
    # [least, most] seconds at the start, and added per move. Games without a clock are always declined
    initial_s: tuple[_Seconds, _Seconds] = (60.0, 1800.0)
    increment_s: tuple[_Seconds, _Seconds] = (0.0, 60.0)
    concurrency: _Count = 1  # games at once
    per_player: _Count = 1  # games at once with one opponent

    def __post_init__(self) -> None:
        for name in ("initial_s", "increment_s"):
            least, most = getattr(self, name)
            if least > most:
                raise ValueError(f"{name}: got [{least:g}, {most:g}], expected [least, most]")

    def decline_reason(self, challenge: Challenge, variant: str) -> str | None:
        """The key of the reason to decline ``challenge``; None if these rules allow it.

        The limits on concurrent games are not checked here, since only the bot counts its games.
        """
        if challenge.variant != variant or challenge.chess960:
            return "variant"
        initial_s, increment_s = challenge.initial_s, challenge.increment_s
        if initial_s is None:
            return "timeControl"
        rated, bot = challenge.rated, challenge.player_is_bot
        return self.refusal(rated=rated, bot=bot, initial_s=initial_s, increment_s=increment_s)

    def refusal(
        self, *, rated: bool | None, bot: bool | None, initial_s: float | None, increment_s: float | None
    ) -> str | None:
        """The key of the reason against a game of this kind, or None; an argument of None is unknown, so allowed."""
        if rated is not None and not any(entry in (rated, "rated" if rated else "casual") for entry in self.rated):
            return "casual" if rated else "rated"
        if bot is not None and not (self.bots if bot else self.humans):
            return "noBot" if bot else "onlyBot"
        for value, (least, most) in ((initial_s, self.initial_s), (increment_s, self.increment_s)):
            if value is not None and not least <= value <= most:
                return "tooFast" if value < least else "tooSlow"
        return None


class BotConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole of ``bot.yml``."""

    url: _Name  # the server; plain http for the loopback only
    token: TokenSource
    dialect: Literal["pychess", "lichess"] = "pychess"
    engine: EngineConfig = EngineConfig()
    accept: AcceptRules = AcceptRules()
    greeting: Annotated[str, msgspec.Meta(max_length=140)] | None = None  # said to the opponent when a game starts
    records: _Name = "klss-games"  # the folder of the games: one PGN file a month, and the ids of games under way

    def __post_init__(self) -> None:
        with contextlib.suppress(ValueError):  # whose message may quote a password
            parts = urlsplit(self.url)
            secure = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or ""))
            more = "@" in parts.netloc or parts.query or parts.fragment
            if secure and parts.hostname and parts.port != 0 and not more:
                return
        raise ValueError("url: expected https://HOST, or http:// for the loopback only, without user and password")


def load_config(path: Path) -> BotConfig:
    """The configuration in the file ``path``; paths in it are relative to the file's folder. Raises ConfigError: the
    file can't be read, is not YAML, or has unknown keys or bad values.
    """
    try:
        config = msgspec.yaml.decode(read_text(path, _MAX_BYTES), type=BotConfig)
    except OSError as error:
        raise ConfigError(f"{path}: can't be read ({error.strerror}); expected a bot.yml") from None
    except msgspec.ValidationError as error:
        said = str(error)
        # What stands under ``token`` may be the token itself, put in the wrong place.
        raise ConfigError(f"{path}: {_TOKEN if '`$.token' in said else said}") from None
    except (ValueError, RecursionError) as error:  # its text may quote the token
        line = re.search(r"line \d+", str(error))
        raise ConfigError(f"{path}: bad YAML{f' in {line[0]}' if line else ''}; expected a bot.yml") from None
    folder, engine, token = path.absolute().parent, config.engine, config.token
    if token.file is not None:
        token = TokenSource(file=path_in(folder, token.file, f"{path}: token.file"))
    if engine.command is None and engine.ponder is None and config.accept.concurrency > 1:
        engine = msgspec.structs.replace(engine, ponder=False)
    records = path_in(folder, config.records, f"{path}: records")
    return msgspec.structs.replace(config, engine=engine, token=token, records=records)


def path_in(folder: Path, text: str, key: str) -> str:
    """The path ``text``, relative to ``folder``. Raises ConfigError with ``key``: it is in the home of nobody."""
    try:
        return str(folder / Path(text).expanduser())
    except RuntimeError:
        raise ConfigError(f"{key}: got a path in an unknown user's home; expected another one") from None


def read_token(source: TokenSource) -> Token:
    """The token that ``source`` points to. A variable is removed from the environment.

    Warns (in the log) about a file that others may read. Raises ConfigError: there is no token.
    """
    if source.env is not None:
        text = os.environ.pop(source.env, None)
        where = "token.env"  # unnamed, here and below: somebody may have put the token itself there
        if text is None:
            raise ConfigError(f"{where}: there is no such environment variable; expected the bot's token there")
    else:
        path, where = Path(source.file or ""), "token.file"
        try:
            with path.open("rb") as stream:
                mode = stat.S_IMODE(os.fstat(stream.fileno()).st_mode)
                text = stream.read(_MAX_TOKEN + 2).decode("ascii", "replace")
        except OSError as error:
            raise ConfigError(f"{where} can't be read ({error.strerror}); expected the bot's token there") from None
        if hasattr(os, "geteuid") and mode & 0o077:  # the bits say nothing on Windows
            fields = {"file": str(path), "got": f"{mode:04o}", "expected": "0600", "do": f"chmod 600 {path}"}
            log.warning("others may read the token's file", extra={"fields": fields})
    text = text.strip()
    if not re.fullmatch(rf"[!-~]{{1,{_MAX_TOKEN}}}", text):
        raise ConfigError(f"{where} holds no token: expected 1 to {_MAX_TOKEN} visible ASCII characters on one line")
    return Token(text)

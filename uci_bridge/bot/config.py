"""``bot.yml``: what a bot plays, where, with which engine. A bad file is refused in one line that names the key.

docs/bot.md documents the keys; all but ``url`` and ``token`` have defaults. The token itself is never in the file:
``token`` says where it is, and error messages never quote the values under that key.
"""

from __future__ import annotations

import difflib
import logging
import math
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import msgspec
import yaml

from darkchess.errors import EvaluatorError
from darkchess.evaluation.registry import check_evaluator_name
from klss.support.text import read_text
from uci_bridge.bot.dialect import Challenge
from uci_bridge.bot.lichess import Token, is_loopback
from uci_bridge.child_processes import take_variable
from uci_bridge.errors import UciBridgeError

__all__ = ["AcceptRules", "BotConfig", "ConfigError", "EngineConfig", "TokenSource", "load_config", "read_token"]

log = logging.getLogger(__name__)

_MAX_BYTES = 1 << 16
_MAX_TOKEN = 512

_Name = Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]
_Count = Annotated[int, msgspec.Meta(ge=1, le=1000)]
_Seconds = Annotated[float, msgspec.Meta(ge=0)]


class ConfigError(UciBridgeError, ValueError):
    """The configuration, or the token that it points to, is not usable. One line: key, got, expected."""


class TokenSource(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The place of the token: exactly one of the two."""

    env: _Name | None = None  # name of an environment variable
    file: _Name | None = None  # path of a file that holds only the token; relative to the folder of ``bot.yml``


class EngineConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The engine that plays."""

    # one of ours: a name, ``NAME,field=value,…`` or a TOML file; ``kluss`` if there is no ``command`` either
    configuration: _Name | None = None
    # another engine that speaks the protocol: program and arguments
    command: Annotated[list[_Name], msgspec.Meta(min_length=1, max_length=64)] | None = None
    evaluator: _Name | None = None  # an evaluator's name (``darkchess.evaluation.registry``); for our engine only
    # limits of a move; without them only the clock limits it
    nodes: Annotated[int, msgspec.Meta(ge=1)] | None = None
    move_time_s: Annotated[float, msgspec.Meta(gt=0)] | None = None
    margin_ms: Annotated[int, msgspec.Meta(ge=0, le=60_000)] = 1000  # kept back on the clock for the network's delay
    # whether our engine ponders. None: if it can, and only with ``concurrency: 1``, as otherwise it would take the
    # cores from the engines of the other games
    ponder: bool | None = None


class AcceptRules(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The rules for accepting games."""

    # which are accepted of ``casual`` (or false) and ``rated`` (or true)
    rated: list[bool | Literal["casual", "rated"]] = msgspec.field(default_factory=lambda: ["casual"])
    humans: bool = True
    bots: bool = False
    # [least, most] seconds at the start, and added per move. Games without a clock are always declined
    initial_s: tuple[_Seconds, _Seconds] = (60.0, 1800.0)
    increment_s: tuple[_Seconds, _Seconds] = (0.0, 60.0)
    concurrency: _Count = 1  # games at once
    per_player: _Count = 1  # games at once with one opponent

    def decline_reason(self, challenge: Challenge, variant: str) -> str | None:
        """The key of the reason to decline ``challenge``; None if these rules allow it.

        The limits on concurrent games are not checked here, since only the bot counts its games.
        """
        if challenge.variant != variant or challenge.chess960:
            return "variant"
        return self.refusal(
            rated=challenge.rated,
            bot=challenge.player_is_bot,
            initial_s=challenge.initial_s if challenge.initial_s is not None else math.inf,
            increment_s=challenge.increment_s if challenge.increment_s is not None else 0.0,
        )

    def refusal(
        self, *, rated: bool | None, bot: bool | None, initial_s: float | None, increment_s: float | None
    ) -> str | None:
        """The key of the reason against a game of this kind, or None; an argument of None is unknown, so allowed."""
        if rated is not None and not any(entry in (rated, "rated" if rated else "casual") for entry in self.rated):
            return "casual" if rated else "rated"
        if bot is not None and not (self.bots if bot else self.humans):
            return "noBot" if bot else "onlyBot"
        if initial_s == math.inf:
            return "timeControl"
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


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader, but with an error for equal keys: the plain one silently takes the last."""


def _mapping(loader: _Loader, node: yaml.MappingNode) -> dict[Any, Any]:
    loader.flatten_mapping(node)
    found: dict[Any, Any] = {}
    for key_node, value_node in node.value:
        key = loader.construct_object(key_node, deep=True)
        if not isinstance(key, str):
            raise yaml.constructor.ConstructorError(None, None, f"the key {key!r} is no text", key_node.start_mark)
        if key in found:
            raise yaml.constructor.ConstructorError(None, None, f"the key {key} stands twice", key_node.start_mark)
        found[key] = loader.construct_object(value_node, deep=True)
    return found


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def load_config(path: Path) -> BotConfig:
    """The configuration in the file ``path``; paths in it are relative to the file's folder. Raises ConfigError: the
    file can't be read, is not YAML, or has unknown keys or bad values.
    """
    try:
        data = read_text(path, _MAX_BYTES)
    except OSError as error:
        raise ConfigError(f"{path}: can't be read ({error.strerror}); expected a bot.yml") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: got bytes that are no UTF-8, expected a bot.yml") from None
    try:
        raw = yaml.load(data, Loader=_Loader)  # a SafeLoader
    except yaml.MarkedYAMLError as error:
        where = f" in line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise ConfigError(f"{path}: bad YAML{where}: {error.problem}") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise ConfigError(f"{path}: bad YAML: {' '.join(str(error).split())[:120]}") from None
    if not isinstance(raw, dict):
        raise ConfigError(f"{path}: got {_kind(raw)}, expected keys such as url: and token:")
    try:
        config = msgspec.convert(raw, BotConfig)
    except msgspec.ValidationError as error:
        raise ConfigError(f"{path}: {_complaint(str(error), raw)}") from None
    except RecursionError:
        raise ConfigError(f"{path}: got values inside themselves, expected plain ones") from None
    try:
        _check(config)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None
    folder = path.absolute().parent
    token = config.token
    engine = config.engine
    if engine.ponder is None and config.accept.concurrency > 1:
        engine = msgspec.structs.replace(engine, ponder=False)
    return msgspec.structs.replace(
        config,
        engine=engine,
        token=token if token.file is None else TokenSource(file=str(folder / Path(token.file).expanduser())),
        records=str(folder / Path(config.records).expanduser()),
    )


def read_token(source: TokenSource) -> Token:
    """The token that ``source`` points to. A variable is removed from the environment, so that no child process gets it
    or can read it.

    Warns (in the log) about a file that others may read. Raises ConfigError: there is no token.
    """
    if source.env is not None:
        text = take_variable(source.env)
        name = source.env if re.fullmatch(r"[A-Z_][A-Z0-9_]*", source.env) else "that it names"
        where = f"token.env: the environment variable {name}"
        if text is None:
            raise ConfigError(f"{where} is not set; expected the bot's token there")
    else:
        path = Path(source.file or "")
        # Somebody may have put the token itself there, as above: don't quote a name that looks like one.
        where = f"token.file: {path.parent / '...' if re.fullmatch(r'[A-Za-z0-9_-]{12,}', path.name) else path}"
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


def _check(config: BotConfig) -> None:
    """Check what the types alone don't."""
    try:
        parts = urlsplit(config.url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise ConfigError(f"url: got {config.url!r}, expected https://HOST") from None
    if parts.username is not None or parts.password is not None:
        raise ConfigError("url: got a user name or password in it, expected https://HOST (the token has its own key)")
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
        raise ConfigError(f"url: got {config.url!r}, expected https://HOST")
    if parts.scheme == "http" and not is_loopback(host):
        raise ConfigError(f"url: got {config.url!r}, expected https://… (plain http is for the loopback only)")
    if (config.token.env is None) == (config.token.file is None):
        raise ConfigError("token: expected exactly one of env: NAME and file: PATH")
    engine = config.engine
    if engine.command is not None:
        for key in ("configuration", "evaluator", "ponder"):
            if getattr(engine, key) is not None:
                raise ConfigError(f"engine.{key}: got it beside engine.command, expected one of the two")
    if engine.evaluator is not None:
        try:
            check_evaluator_name(engine.evaluator)
        except EvaluatorError as error:
            raise ConfigError(f"engine.{error}") from None
    for name in ("initial_s", "increment_s"):
        least, most = getattr(config.accept, name)
        if not (math.isfinite(least) and math.isfinite(most) and least <= most):
            raise ConfigError(f"accept.{name}: got [{least:g}, {most:g}], expected [least, most] in seconds")
    if engine.move_time_s is not None and not math.isfinite(engine.move_time_s):
        raise ConfigError(f"engine.move_time_s: got {engine.move_time_s}, expected seconds")
    if not config.accept.rated:
        raise ConfigError("accept.rated: got an empty list, expected casual, rated or both")


_KINDS = {"dict": "keys and values", "list": "a list", "NoneType": "nothing", "str": "text", "bool": "true or false"}
_WORDS = {
    "object": "keys and values", "str": "text", "array": "a list", "float": "a number", "int": "a whole number",
    "bool": "true or false",
}  # fmt: skip
_SECRET = "token"


def _kind(value: object) -> str:
    return _KINDS.get(type(value).__name__, f"a {type(value).__name__}")


def _complaint(message: str, raw: Mapping[str, Any]) -> str:
    """msgspec's error in our own form: the key as it is written in the file, its value, and what was expected."""
    said, _, place = message.partition(" - at ")
    path = place.strip("`").removeprefix("$").removeprefix(".")
    keys = re.findall(r"\w+|\.\.\.", path)
    if match := re.match(r"Object contains unknown field `(.*)`", said, re.DOTALL):
        parts = {"token": TokenSource, "engine": EngineConfig, "accept": AcceptRules}
        known = parts.get(keys[0] if keys else "", BotConfig).__struct_fields__
        near = difflib.get_close_matches(match[1], known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"expected one of {', '.join(known)}"
        if path == _SECRET:  # the key itself may be the token, put in the wrong place
            return f"token: unknown key; expected one of {', '.join(known)}"
        return f"unknown key: got {'.'.join(filter(None, [path, match[1][:60]]))}; {hint}"
    if match := re.match(r"Object missing required field `(.*)`", said):
        return f"missing key: expected {'.'.join(filter(None, [path, match[1]]))}"
    value: Any = raw
    for key in keys:
        try:
            value = value[int(key)] if isinstance(value, list) else value[key]
        except (LookupError, TypeError, ValueError):
            value = None
            break
    shown = "something else" if path.startswith(_SECRET) else _shown(value)
    expected = re.sub(r", got .*", "", said).replace("`", "").removeprefix("Expected ").replace(" | null", "")
    for theirs, ours in _WORDS.items():
        expected = re.sub(rf"\b{theirs}\b", ours, expected)
    if expected.startswith("Invalid enum value"):
        expected = "casual or rated" if path.startswith("accept") else "pychess or lichess"
    return f"{path}: got {shown}, expected {expected}"


def _shown(value: object) -> str:
    text = repr(value) if isinstance(value, str | int | float | bool) else _kind(value)
    return text if len(text) <= 60 else text[:57] + "..."

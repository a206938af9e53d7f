"""Games as PGN (docs/rules.md, "Formats"): writer and reader of our own, since python-chess's reader stops at the first
king left in attack.

Written: movetext in SAN without ``+`` and ``#``, clocks as comments, ``[Variant "Fog of War"]``, ``FEN``/``SetUp`` for
other start positions, the reason in ``[Termination]``. The moves are the true ones: a finished game is public, and
both players' views follow by replaying it (:meth:`darkchess.fog.game.referee.Referee.replay`).

Read as well: UCI movetext, comments, variations and NAGs (all three skipped), pychess's ``Fogofwar`` and ``Dark
chess``, in any case. A king capture ends a game.
"""

from __future__ import annotations

import itertools
import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import chess

from darkchess.board.position import START_FEN, Position
from darkchess.errors import DarkchessError, RecordError
from darkchess.fog.game.san import parse_move, san
from klss.support.text import printable
from klss.table.outcome import Outcome

__all__ = ["VARIANT", "GameRecord", "parse_move", "read_game", "read_pgn", "san", "write_pgn"]

VARIANT = "Fog of War"
"""The variant's name as we write it."""

_VARIANTS = {"fogofwar", "darkchess"}
"""The names that are read, in small letters alone."""

_ROSTER = {"Event": "?", "Site": "?", "Date": "????.??.??", "Round": "?", "White": "?", "Black": "?"}
"""PGN's seven tags but the result, in their order, and what stands where nothing is known."""

_OURS = ("Result", "Variant", "SetUp", "FEN", "Termination")
"""Tags that follow from a record's other fields."""

_WINNERS: dict[str, chess.Color | None] = {"1-0": chess.WHITE, "0-1": chess.BLACK, "1/2-1/2": None}

_TOKEN = re.compile(
    r"""
      (?P<skip>     \s+ | ^%[^\n]* | \{[^}]*\} | ;[^\n]* | \$\d+ | e\.\s?p\.(?=\s|$) | [!?]+ | \d*\.+ | \d+(?=\s) )
    | (?P<tag>      \[\s*(?P<name>\w+)\s+"(?P<value>(?:[^"\\\n]|\\.)*)"\s*\] )
    | (?P<result>   1-0 | 0-1 | 1/2-1/2 | ½-½ | \* ) (?=[\s\[({;]|$)
    | (?P<open>     \( )
    | (?P<close>    \) )
    | (?P<word>     [^\s(){}\[\];$]+ )
    """,
    re.VERBOSE | re.MULTILINE,
)


@dataclass(frozen=True)
class GameRecord:
    """A game as it is written down.

    Attributes
    ----------
    moves
        The true moves.
    outcome
        How it ended; None while it is not over (``*``).
    fen
        The start position; None for the usual one.
    headers
        Other PGN tags, such as ``White`` and ``Date``. ``Result``, ``Variant``, ``SetUp``, ``FEN`` and ``Termination``
        follow from the other fields.
    clocks_s
        Seconds on the mover's clock after each move, for as many moves as there are; None where it is not known. Is
        written (``[%clk 0:02:58]``), and not read.
    """

    moves: tuple[chess.Move, ...]
    outcome: Outcome | None = None
    fen: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    clocks_s: tuple[float | None, ...] = field(default=(), compare=False)

    @property
    def result(self) -> str:
        """``1-0``, ``0-1``, ``1/2-1/2`` or ``*``."""
        return "*" if self.outcome is None else self.outcome.result

    def positions(self) -> Iterator[Position]:
        """The true positions, from the start on; raises IllegalMove where a move is none."""
        position = Position.from_fen(self.fen or START_FEN)
        yield position
        for move in self.moves:
            position = position.after(move)
            yield position


def write_pgn(record: GameRecord) -> str:
    """``record`` as PGN, ending in a newline.

    Raises
    ------
    IllegalMove, FenError
        The moves or the start position are not those of a game.
    RecordError
        A header's name is not one that PGN allows.

    >>> record = GameRecord((chess.Move.from_uci("e2e4"),), headers={"White": "a", "Black": "b"})
    >>> print(write_pgn(record).splitlines()[-1])
    1. e4 *
    """
    tags = _ROSTER | {name: value for name, value in record.headers.items() if name in _ROSTER}
    tags |= {"Result": record.result, "Variant": VARIANT}
    if record.fen is not None:
        tags |= {"SetUp": "1", "FEN": record.fen}
    if record.outcome is not None:
        tags["Termination"] = record.outcome.reason
    tags |= {name: value for name, value in record.headers.items() if name not in _ROSTER and name not in _OURS}
    for name in tags:
        if not re.fullmatch(r"\w+", name, re.ASCII):
            raise RecordError(f"bad PGN header: got the name {name!r}, expected letters, digits and underscores")
    words: list[str] = []
    clocks = itertools.chain(record.clocks_s, itertools.repeat(None))
    for position, move, clock_s in zip(record.positions(), record.moves, clocks, strict=False):
        if position.turn == chess.WHITE:
            words.append(f"{position.fullmove}.")
        elif not words or words[-1].endswith("}"):
            words.append(f"{position.fullmove}...")
        words.append(san(position, move))
        if clock_s is not None:
            words.append(f"{{[%clk {_clock(clock_s)}]}}")
    words.append(record.result)
    lines = [f'[{name} "{_escaped(value)}"]' for name, value in tags.items()]
    # PGN's own rule: lines of movetext shorter than 80 characters.
    text = textwrap.wrap(" ".join(words), width=79, break_long_words=False, break_on_hyphens=False)
    return "\n".join([*lines, "", *text, ""])


def read_pgn(text: str) -> list[GameRecord]:
    """The games of a PGN text, in its order; [] when it holds none.

    Raises
    ------
    RecordError
        It is not PGN, is of another variant, holds a move that is misspelt, ambiguous or illegal, or a result that a
        captured king contradicts. The message names the game and the ply.
    """
    return [_game(number, written) for number, written in enumerate(_written(text), 1)]


def read_game(text: str, number: int = 1, *, most_moves: int | None = None) -> tuple[GameRecord | None, int]:
    """Game ``number`` (from 1 on) of a PGN text, None where it holds fewer; and how many it holds.

    The moves of the others are not looked at: a text of many games is read quickly, and one that is no game of Fog of
    War there does no harm.

    Raises
    ------
    RecordError
        As of :func:`read_pgn`, for that game alone; or the text is not PGN, or the game has more than ``most_moves``,
        none of which is looked up then.
    """
    chosen, count = None, 0
    for count, written in enumerate(_written(text), 1):
        if count == number:
            chosen = written
    if chosen is not None and most_moves is not None and len(chosen.words) > most_moves:
        raise RecordError(f"game {number}: got {len(chosen.words):,} moves, expected at most {most_moves:,}")
    return None if chosen is None else _game(number, chosen), count


@dataclass
class _Written:
    """A game's text in parts: its tags, the words that are moves, and the result, None where none is written."""

    tags: dict[str, str] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    result: str | None = None


def _written(text: str) -> Iterator[_Written]:
    """The games of a PGN text, none of which is played out yet."""
    game = _Written()
    depth = 0  # of the variations that are open; what stands in one is left out
    for match in _tokens(text.removeprefix("\ufeff")):
        kind = match.lastgroup
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth -= 1
            if depth < 0:
                raise RecordError(f"bad PGN: got ')' in line {_line(match)}, expected '(' before it")
        elif depth:
            continue
        elif kind == "tag":  # after moves, it begins the next game, though no result ended this one
            if game.words:
                yield game
                game = _Written()
            game.tags[match["name"]] = printable(re.sub(r"\\(.)", r"\1", match["value"]))
        elif kind == "result":
            game.result = match["result"].replace("½", "1/2")
            yield game
            game = _Written()
        elif kind == "word":
            game.words.append(match["word"])
    if depth:
        raise RecordError(f"bad PGN: got {depth} variations left open at the end, expected ')' for each '('")
    if game.tags or game.words:
        yield game


def _tokens(text: str) -> Iterator[re.Match[str]]:
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            line = text.count("\n", 0, at) + 1
            wanted = {"{": "a comment that ends in '}'", "[": 'a tag like [White "name"]'}.get(
                text[at], "a tag, a move, a comment or a result"
            )
            raise RecordError(f"bad PGN: got {text[at : at + 20]!r} in line {line}, expected {wanted}")
        yield match
        at = match.end()


def _line(match: re.Match[str]) -> int:
    return match.string.count("\n", 0, match.start()) + 1


def _game(number: int, written: _Written) -> GameRecord:
    tags = written.tags
    variant = tags.get("Variant")
    if variant is not None and re.sub(r"[^a-z]", "", variant.lower()) not in _VARIANTS:
        raise RecordError(
            f"game {number}: got the variant {variant!r}, expected 'Fog of War', 'Fogofwar' or 'Dark chess'"
        )
    fen = tags.get("FEN") if tags.get("SetUp") != "0" else None
    try:
        position = Position.from_fen(fen or START_FEN)
    except DarkchessError as error:
        raise RecordError(f"game {number}: {error}") from None
    moves = []
    for ply, word in enumerate(written.words, 1):
        try:
            move = parse_move(position, word)
        except DarkchessError as error:
            raise RecordError(f"game {number}, ply {ply}: {error}") from None
        moves.append(move)
        position = position.after(move)
    outcome = _outcome(number, tags, written.result, position)
    others = {name: value for name, value in tags.items() if name not in _OURS}
    return GameRecord(tuple(moves), outcome, fen, others)


def _outcome(number: int, tags: dict[str, str], result: str | None, final: Position) -> Outcome | None:
    said = result if result is not None and result != "*" else tags.get("Result", "*").replace("½", "1/2")
    termination = tags.get("Termination", "unknown")
    if said not in _WINNERS and said != "*":
        raise RecordError(f"game {number}: got the result {said!r}, expected 1-0, 0-1, 1/2-1/2 or *")
    for color in chess.COLORS:
        if final.king(color) is None:
            won = Outcome(not color, "king_captured")
            if said not in ("*", won.result):
                raise RecordError(
                    f"game {number}: got the result {said} after {chess.COLOR_NAMES[color]}'s king was captured, "
                    f"expected {won.result}"
                )
            return won
    if said == "*":
        return Outcome(None, "aborted") if termination == "aborted" else None
    return Outcome(_WINNERS[said], termination)


def _clock(seconds: float) -> str:
    """Hours, minutes and seconds, as PGN's clock comments have them.

    >>> _clock(178.96), _clock(3600.0), _clock(-1.0)
    ('0:02:58', '1:00:00', '0:00:00')
    """
    whole = max(0, int(seconds))
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


def _escaped(value: str) -> str:
    return printable(value).replace("\\", "\\\\").replace('"', '\\"')

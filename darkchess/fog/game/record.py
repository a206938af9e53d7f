"""Games as PGN (docs/rules.md, "Formats"): our own writer and reader. python-chess's reader drops the words that it
does not know, so that ``Sf3`` is the pawn's move ``f3``; its writer does not escape quotes.

The writer gives movetext in SAN without ``+`` and ``#``, clocks as comments, ``[Variant "Fog of War"]``,
``FEN``/``SetUp`` for other start positions, and the reason in ``[Termination]``. The moves are the true ones: a
finished game is public, and a replay gives both players' views (:meth:`darkchess.fog.game.referee.Referee.replay`).

The reader also accepts every spelling of :mod:`darkchess.fog.game.san`; pychess's ``Fogofwar`` and ``Dark chess``, in
upper or lower case; and Chess.com's dialect: ``RuleVariants``, ``e2-e4 .. Nb1xc3``, squares of a board of 14 files, a
last ``R`` or ``T``. It skips comments, variations, NAGs and signs (``±``), tags that are no PGN, unknown results, and
what follows a result in its line. A king capture ends a game. :mod:`darkchess.fog.game.archive` reads files.
"""

from __future__ import annotations

import io
import itertools
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import chess

from darkchess.board.position import START_FEN, Position
from darkchess.errors import DarkchessError, RecordError
from darkchess.fog.game.san import PLAIN, parse_moves, san
from klss.play.outcome import Outcome
from klss.support.text import printable

_MOST_MOVES = 12_000
"""Most moves of a game that is read; under the rule of fifty moves no game has as many."""

_LONGEST = 1 << 22
"""Most characters of a game with its tags and comments, or of a sequence of games without tags."""

VARIANT = "Fog of War"
"""The variant's name as we write it."""

_VARIANTS = {"fogofwar", "darkchess"}
"""The names that are read, reduced to lower-case letters."""

_EXPECTED = "'Fog of War', 'Fogofwar' or 'Dark chess'"

_RULES = frozenset({"FogOfWar", "EnPassant", "Play4Mate"})
"""The words that Chess.com's ``RuleVariants`` may have: our game, and its usual rules."""

_LEAVING = {"R": "resign", "T": "flag", "S": "unknown", "P": "unknown"}
"""The letters that Chess.com writes in place of a last move, and the reasons that they stand for."""

_ON_FOURTEEN = re.compile(r"(?<![a-n])([d-k])(1[01]|[4-9])(?!\d)")
"""A square of the middle of Chess.com's board of 14 files: files d to k, ranks 4 to 11."""
_BEYOND = re.compile(r"[i-k]\d|[d-k](?:9|1[01])")
"""A square that only that board has: a file beyond h, or a rank beyond 8."""

_TAG = re.compile(r'\s*\[\s*([^\s"\]]+)\s+"((?:\\.|[^"\\]|"(?!\s*\]))*)"\s*\]')
"""A tag at the start of a line, or after another one there; a quote in the value need not be escaped."""

_ROSTER = {"Event": "?", "Site": "?", "Date": "????.??.??", "Round": "?", "White": "?", "Black": "?"}
"""PGN's seven tags except the result, in their order, and the value of each if it is not known."""

_OURS = ("Result", "Variant", "SetUp", "FEN", "Termination")
"""Tags that are derived from a record's other fields."""

_NAME = re.compile(r"\w+", re.ASCII)
"""A tag's name."""

_WINNERS: dict[str, chess.Color | None] = {"1-0": chess.WHITE, "0-1": chess.BLACK, "1/2-1/2": None, "1/2": None}

_TOKEN = re.compile(r"\s+ | ;[^\n]* | \{[^}]*\} | \$\d+ | e\.\s?p\.(?=\s|$) | (?P<word>[^\s(){};$]+) | .", re.VERBOSE)
"""The parts of movetext; all but words, parentheses, and a brace that is never closed are skipped."""

_WORD = re.compile(r"\w|--")
"""What a word has, unlike a sign; ``--`` is no move, which is refused."""

_NUMBER = re.compile(r"^(\d*\.+|[1-9]\d*$)")
"""The number before a move."""


@dataclass(frozen=True)
class GameRecord:
    """The record of a game, from which the tags ``Result``, ``Variant``, ``SetUp``, ``FEN``, ``Termination`` follow."""

    moves: tuple[chess.Move, ...]  # the true ones
    outcome: Outcome | None = None  # None: the game is not over (``*``)
    fen: str | None = None  # the start position; None: the usual one
    headers: Mapping[str, str] = field(default_factory=dict)  # other tags (letters, digits, ``_``), such as ``White``
    # seconds on the mover's clock after each of the first moves, None if not known; they are written, but not read
    clocks_s: tuple[float | None, ...] = field(default=(), compare=False)

    @property
    def result(self) -> str:
        """``1-0``, ``0-1``, ``1/2-1/2`` or ``*``."""
        return "*" if self.outcome is None else self.outcome.result

    def positions(self) -> Iterator[Position]:
        """Yield the true positions, from the start on; raises IllegalMove at a move that is illegal."""
        position = Position.from_fen(self.fen or START_FEN)
        yield position
        for move in self.moves:
            position = position.after(move)
            yield position


def write_pgn(record: GameRecord, *, comments: Sequence[str] = (), glyphs: Sequence[str] = ()) -> str:
    """Return ``record`` as PGN, ending in a newline.

    Parameters
    ----------
    comments, glyphs
        Comments and glyphs of the first moves, one for each; empty: none. A comment has no braces; a glyph is one of
        PGN's numbers (``$4``).

    Raises
    ------
    IllegalMove, FenError
        The moves or the start position are not those of a game.

    >>> record = GameRecord((chess.Move.from_uci("e2e4"),), headers={"White": "a", "Black": "b"})
    >>> print(write_pgn(record).splitlines()[-1])
    1. e4 *
    >>> print(write_pgn(record, comments=["the best"], glyphs=["$1"]).splitlines()[-1])
    1. e4 $1 {the best} *
    """
    ours = {"Result": record.result, "Variant": VARIANT}
    if record.fen is not None:
        ours |= {"SetUp": "1", "FEN": record.fen}
    if record.outcome is not None:
        ours["Termination"] = record.outcome.reason
    # PGN's order: the seven tags of its roster first, then ours, then any others.
    tags = _ROSTER | ours | {name: value for name, value in record.headers.items() if name not in _OURS}
    words: list[str] = []
    said = itertools.zip_longest(record.moves, record.clocks_s, glyphs, comments)
    for position, (move, clock_s, glyph, comment) in zip(record.positions(), said, strict=False):
        if position.turn == chess.WHITE:
            words.append(f"{position.fullmove}.")
        elif not words or words[-1].endswith("}"):  # Black's number is needed at the start and after a comment
            words.append(f"{position.fullmove}...")
        words.append(san(position, move))
        if glyph:
            words.append(glyph)
        if clock_s is not None:
            words.append(f"{{[%clk {_clock(clock_s)}]}}")
        if comment:
            words.append(f"{{{comment}}}")
    words.append(record.result)
    lines = [f'[{name} "{_escaped(value)}"]' for name, value in tags.items()]
    # PGN's own rule: lines of movetext shorter than 80 characters.
    text = textwrap.wrap(" ".join(words), width=79, break_long_words=False, break_on_hyphens=False)
    return "\n".join([*lines, "", *text, ""])


def read_pgn(text: str) -> list[GameRecord]:
    """Return the games of a PGN text, in order; [] if it has none.

    Raises
    ------
    RecordError
        The text is not PGN; or a game is of another variant, or has a misspelt, ambiguous or illegal move, a result
        that a captured king contradicts, or more moves than any game has. The message names the game and the ply.
    """
    return [game.record() for game in written_games(io.StringIO(text))]


def read_game(games: Iterable[WrittenGame], number: int = 1) -> tuple[GameRecord | None, int]:
    """Return game ``number`` (from 1 on), None if there are fewer; and the number of games.

    The moves of the other games are not parsed: a text of many games is read quickly, and a game of another variant
    among them does no harm.

    Raises
    ------
    RecordError
        As :func:`read_pgn`, for that game only.
    """
    chosen, count = None, 0
    for count, written in enumerate(games, 1):
        if count == number:
            chosen = written
    return None if chosen is None else chosen.record(), count


@dataclass
class WrittenGame:
    """A game in the words of a text; its moves are not parsed yet."""

    number: int  # from 1 on; games that can't be read count too
    tags: dict[str, str] = field(default_factory=dict)  # as they are written, without control characters
    words: list[str] = field(default_factory=list)  # the moves
    result: str | None = None  # at the end of the text; None if there is none
    # the letter that Chess.com writes in place of a last move if the player to move left the game: R (resigned), T (out
    # of time), S and P (for reasons unknown to us)
    left: str = ""
    fault: str = ""  # the reason why this is not PGN

    def record(self) -> GameRecord:
        """Return the game, with its moves parsed; raises :class:`RecordError` as :func:`read_pgn` and :func:`read_game`
        do.
        """
        try:
            return _game(self)
        except DarkchessError as error:
            raise RecordError(f"game {self.number}: {error}") from None


def written_games(lines: Iterable[str]) -> Iterator[WrittenGame]:
    """Yield the games of a PGN text, given in lines or parts of lines; only one game is in memory at a time.

    Text that can't be read, up to the next line of tags, becomes one game with a ``fault``.
    """
    games = itertools.chain.from_iterable(itertools.starmap(_written, _sections(lines)))
    for number, game in enumerate(games, 1):
        game.number = number
        yield game


def _sections(lines: Iterable[str]) -> Iterator[tuple[dict[str, str], str, bool]]:
    """Yield tags, movetext, and whether they are too long, of each section, which ends at the next tags. Of a section
    that is too long only the beginning is kept: at most ``_LONGEST`` characters and a line."""
    tags: dict[str, str] = {}
    parts: list[str] = []
    size, blank, moves, within = 0, 0, False, False
    for line in (each.removeprefix("\ufeff") for each in lines):
        # A tag inside a comment begins a section too: then the comment was never closed, as in a truncated game. So
        # does a tag after tags without moves, if it comes again or after two blank lines: one may divide a game's tags.
        found, at = ({}, 0) if within else _tags(line)
        again = found.keys() & tags
        if at and (moves or blank > 1 or (blank and again) or "Event" in again):
            yield tags, "".join(parts), size > _LONGEST
            tags, parts, size, moves = {}, [], 0, False
        # PGN's escaped lines are skipped, and so is a line that looks like a tag among tags, but is none.
        skipped = not (within or at) and line.startswith("%" if moves else ("%", "["))
        rest = "" if skipped else line[at:]
        blank = blank + 1 if line.isspace() else 0
        moves = moves or "*" in rest or bool(_WORD.search(rest))
        if size <= _LONGEST:
            tags |= found
            parts.append(rest)
        size += len(line)
        within = not line.endswith("\n")
    yield tags, "".join(parts), size > _LONGEST


def _tags(line: str) -> tuple[dict[str, str], int]:
    """Return the tags at the start of a line, without those whose names PGN does not allow; and where they end."""
    tags, at = {}, 0
    while match := _TAG.match(line, at):
        if _NAME.fullmatch(match[1]):
            tags[match[1]] = printable(re.sub(r'\\(["\\])', r"\1", match[2]))
        at = match.end()
    return tags, at


def _written(tags: dict[str, str], movetext: str, too_long: bool) -> Iterator[WrittenGame]:
    """Yield the games of a section; the last has a ``fault`` if the rest can't be read."""
    game = WrittenGame(0, tags)
    depth, over = 0, False  # open variations, which are skipped; whether the next word begins another game
    for match in _TOKEN.finditer(movetext.translate(PLAIN)):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if match[0] == "{" or depth < 0:
            expected = "a comment that ends in '}'" if match[0] == "{" else "'(' before it"
            game.fault = f"bad PGN: got {match[0]!r}, expected {expected}"
            break
        word = "" if depth or not match["word"] else _NUMBER.sub("", match["word"])
        if word in _WINNERS or word == "*":
            game.result = word if game.result in (None, "*") else game.result
        elif game.result is not None and not over:  # a game without tags follows in a new line, after tags a blank one
            over = match[0].isspace() and match[0].count("\n") > bool(game.tags)
        elif word != "N" and _WORD.search(word):  # N is the sign of a novelty
            if over:
                yield game
                game, over = WrittenGame(0), False
            if word in _LEAVING:
                game.left = word
            else:
                game.words.append(word)
    if too_long:
        game.fault = f"got more than {_LONGEST:,} characters, expected tags between games"
    elif depth > 0:
        game.fault = f"bad PGN: got {depth} variations left open, expected ')' for each '('"
    if game.tags or game.words or game.left or game.fault:
        yield game


def _game(written: WrittenGame) -> GameRecord:
    tags = written.tags
    fault = written.fault or _not_this_game(tags)
    if not fault and len(written.words) > _MOST_MOVES:
        fault = f"got {len(written.words):,} moves, expected at most {_MOST_MOVES:,}"
    if fault:
        raise RecordError(fault)
    fen = (tags.get("FEN") or None) if tags.get("SetUp") != "0" else None
    moves, position = parse_moves(Position.from_fen(fen or START_FEN), _on_eight_files(written))
    # Without a variant, a final "#" where the rules of fog leave a move is a checkmate of chess.
    if "Variant" not in tags and written.words[-1:] and written.words[-1].endswith("#") and position.legal_moves():
        raise RecordError(f"got {written.words[-1]!r} at the end, a mate of chess; expected {_EXPECTED}")
    outcome = _outcome(written, position)
    others = {name: value for name, value in tags.items() if name not in _OURS}
    return GameRecord(tuple(moves), outcome, fen, others)


def _not_this_game(tags: Mapping[str, str]) -> str:
    """Return why the tags are those of another game, "" if they are not. Only chess servers name openings (ECO)."""
    variant, rules = tags.get("Variant"), tags.get("RuleVariants", "")
    if rules:
        others = [rule for rule in rules.split() if rule not in _RULES]
        if "FogOfWar" not in rules.split() or others:
            return (
                f"got the rules {rules!r}, expected FogOfWar with {' and '.join(sorted(_RULES - {'FogOfWar'}))} alone"
            )
    elif variant is not None:
        if re.sub(r"[^a-z]", "", variant.lower()) not in _VARIANTS:
            return f"got the variant {variant!r}, expected {_EXPECTED}"
    elif "ECO" in tags:
        return f"got an opening of chess (ECO {tags['ECO']!r}) and no variant, expected {_EXPECTED}"
    return ""


def _on_eight_files(written: WrittenGame) -> list[str]:
    """Return the moves; those on Chess.com's board of 14 files, on which ours begins at d4, with our squares' names."""
    words = written.words
    # A single move may name no square that only that board has: its first moves end on rank 6 or 7, ours on 3 or 4.
    far = any(map(_BEYOND.search, words)) or ("FEN" not in written.tags and "".join(words[:1]).endswith(("6", "7")))
    if "RuleVariants" not in written.tags or not far:
        return words
    return [_ON_FOURTEEN.sub(lambda square: f"{chr(ord(square[1]) - 3)}{int(square[2]) - 3}", word) for word in words]


def _outcome(written: WrittenGame, final: Position) -> Outcome | None:
    said = written.result if written.result not in (None, "*") else written.tags.get("Result", "").translate(PLAIN)
    if said not in _WINNERS:
        said = "*"
    # A captured king decides, and the text must not contradict it; then its result; then the way a player left.
    for color in chess.COLORS:
        if final.king(color) is None:
            won = Outcome(not color, "king_captured")
            if said not in ("*", won.result):
                raise RecordError(
                    f"got the result {said} after {chess.COLOR_NAMES[color]}'s king was captured, expected {won.result}"
                )
            return won
    reason = _LEAVING.get(written.left) or written.tags.get("Termination", "unknown")
    if said == "*" and written.left in ("R", "T"):
        return Outcome(not final.turn, reason)
    if said == "*":
        return Outcome(None, "aborted") if reason == "aborted" else None
    return Outcome(_WINNERS[said], reason)


def _clock(seconds: float) -> str:
    """Return hours, minutes and seconds, in the form of PGN's clock comments.

    >>> _clock(178.96), _clock(3600.0), _clock(-1.0)
    ('0:02:58', '1:00:00', '0:00:00')
    """
    whole = max(0, int(seconds))
    return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


def _escaped(value: str) -> str:
    return printable(value).replace("\\", "\\\\").replace('"', '\\"')

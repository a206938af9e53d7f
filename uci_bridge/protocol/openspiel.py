"""OpenSpiel's games on the engine protocol: the fields of their messages.

Source: docs/engine-protocol.md, "OpenSpiel's games".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta, Struct

from klss.openspiel.observations import Seen
from klss.play.contest import AnyPlayer, Contradiction
from klss.play.limits import Limit
from klss.play.outcome import Outcome, Seat
from uci_bridge.protocol import shapes, wire

_MAX_ACTIONS = 65_536
_Text = Annotated[str, Meta(max_length=1 << 20)]
_Action = Annotated[int, Meta(ge=0, lt=2**31)]
_Actions = Annotated[list[_Action], Meta(max_length=_MAX_ACTIONS)]


@dataclass(frozen=True)
class _Over:
    """The end of a game, as the last observation."""

    ply: int
    outcome: Outcome


class _Observation(Struct, frozen=True, kw_only=True):
    ply: shapes.Ply
    text: _Text = ""
    actions: _Actions = []
    names: Annotated[list[Annotated[str, Meta(max_length=1000)]], Meta(max_length=_MAX_ACTIONS)] = []
    own_action: _Action | None = None
    game_over: shapes.GameOver | None = None

    def __post_init__(self) -> None:
        """Refuse a number of names that differs from that of the actions."""
        if len(self.names) != len(self.actions):
            raise ValueError(f"names: got {len(self.names)} of them, expected {len(self.actions)}: one an action")


class _Request(shapes.Request, frozen=True, kw_only=True):
    legalActions: Annotated[_Actions, Meta(min_length=1)]
    observationTranscript: Annotated[list[_Observation], Meta(min_length=1)] | None = None
    latestObservationDelta: _Observation | None = None


class _Push(shapes.Push, frozen=True, kw_only=True):
    observation: _Observation


class _Answer(shapes.Answer, frozen=True, kw_only=True):
    action: _Action


class _Transcript(wire.Transcript):
    """See :class:`uci_bridge.protocol.wire.Transcript`."""

    def __init__(self, seen: Sequence[Seen | _Over] = ()) -> None:
        self.seen = list(seen)

    @property
    def given(self) -> list[Seen]:  # type: ignore[override]
        return [each for each in self.seen if isinstance(each, Seen)]

    @property
    def over(self) -> bool:  # type: ignore[override]
        return bool(self.seen) and isinstance(self.seen[-1], _Over)

    @property
    def ply(self) -> int:
        return len(self.seen) - 1

    def copy(self) -> _Transcript:
        return _Transcript(self.seen)

    def place(self, seen: Seen | _Over) -> int:
        return seen.ply

    def take(self, seen: Seen | _Over, question: Any = None) -> None:
        """See the base: an action of its own must be among those that it could choose."""
        last = self.seen[-1] if self.seen else None
        if isinstance(seen, Seen) and seen.own is not None:
            legal = last.actions if isinstance(last, Seen) else ()
            if seen.own not in legal:
                raise Contradiction(f"own_action: got {seen.own}, expected one of the {len(legal)} that were legal")
        self.seen.append(seen)

    def check(self, question: Sequence[int]) -> None:
        if tuple(question) != self.question(None):
            raise Contradiction(f"legalActions: got {list(question)[:20]}, expected those of the last observation")

    def add(self, observation: Seen) -> None:
        """See the base: nothing is pushed."""
        self.seen.append(observation)

    def end(self, outcome: Outcome) -> _Over | None:
        self.seen.append(_Over(len(self.seen), outcome))
        return self.seen[-1] if len(self.seen) > 1 else None

    def question(self, asked: Any) -> tuple[int, ...]:
        given = self.given
        return given[-1].actions if given else ()


class OpenSpielWire(wire.Wire):
    """The vocabulary of the game with the kit's name ``openspiel:GAME``."""

    mark = "legalActions"
    request, push = _Request, _Push
    answers = {"action": _Answer}  # noqa: RUF012

    def __init__(self, name: str) -> None:
        self.game = name  # type: ignore[misc]

    def transcript(self, seat: Seat, setup: Any) -> _Transcript:
        """See the base."""
        return _Transcript()

    def read_question(self, raw: _Request) -> tuple[int, ...]:
        """See the base."""
        return tuple(raw.legalActions)

    def question_json(self, question: Sequence[int]) -> dict[str, Any]:
        """See the base."""
        return {self.mark: list(question)}

    def read_seen(self, raw: _Observation) -> Seen | _Over:
        """See the base."""
        if raw.game_over is not None:
            return _Over(raw.ply, shapes.outcome_of(raw.game_over))
        return Seen(raw.ply, raw.text, tuple(raw.actions), tuple(raw.names), raw.own_action)

    def seen_json(self, seen: Seen | _Over) -> dict[str, Any]:
        """See the base."""
        if isinstance(seen, _Over):
            return {"ply": seen.ply, "game_over": shapes.over_shape(seen.outcome)}
        return {
            "ply": seen.ply,
            "text": seen.text,
            "actions": list(seen.actions),
            "names": list(seen.names),
            "own_action": seen.own,
        }

    def rehearse(self, player: AnyPlayer, limit: Limit) -> None:
        """See the base: a made-up turn. No engine can follow it: it answers with an error, but has loaded its code."""
        player.begin(True, None)
        player.observe(Seen(0, "", (0,), ("0",)))
        player.answer("action", limit)

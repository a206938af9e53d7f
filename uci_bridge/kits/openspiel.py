"""The kit of any two-player zero-sum game of OpenSpiel: ``--game "openspiel:dark_hex(board_size=3)"``, or one of
anybody's module: ``--game openspiel:MODULE:NAME`` (:func:`klss.openspiel.games.spiel_game`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from klss.openspiel.games import spiel_game
from klss.openspiel.named_players import CONFIGURATIONS, Configuration, configuration, make_player
from klss.openspiel.observations import Seen, Sight
from klss.openspiel.referee import Referee
from klss.play.arbiter import Played
from klss.play.contest import Contradiction, Player
from klss.play.kit import Maker
from klss.play.limits import Limit
from klss.play.outcome import Seat
from klss.play.small_game import Nature, PlainKit
from klss.support.text import Document
from uci_bridge.commands import described

_WARM_NODES = 50


class OpenSpielKit(PlainKit[Configuration, Referee, Seen, int]):
    """The kit of ``openspiel:GAME``. Raises GameError: OpenSpiel has no such game, or it is not a two-player zero-sum
    game.
    """

    key, mark, renamed = "action", "legalActions", {"own": "own_action"}
    observation, answer, own = Seen, int, Configuration
    configurations = tuple(CONFIGURATIONS)
    default_player = "kluss"
    players = (
        "kluss is 1-KLSS here, another search than in Fog of War; NAME,field=value,…; FILE.toml; policy:FILE (of klss "
        "solve --out); cmd:PROGRAM …"
    )
    front = "klss_app.front:OpenSpielFront"

    def __init__(self, name: str) -> None:
        self.name, self.title = name, name.partition(":")[2]  # behind "openspiel:"
        self._game, _ = spiel_game(self.title)
        Sight(self._game, 0)  # raises now, and not in play, if the game has no observations
        super().__init__()

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by name: workers of a match make the kit again."""
        return OpenSpielKit, (self.name,)

    def spec(self, text: str) -> Configuration:
        return configuration(text)

    def text(self, spec: Configuration) -> str:
        if spec.player == "policy":
            return spec.name
        return described(spec, CONFIGURATIONS, configuration)

    def maker(self, spec: Configuration, choice: object, setup: None) -> Maker[None, Seen, int]:
        return Maker(partial(make_player, spec, self._game))

    def choices(self, seen: Sequence[Seen]) -> tuple[int, ...]:
        return seen[-1].actions if seen else ()

    def follows(self, seen: Sequence[Seen]) -> None:
        """See the base: an action of its own must be among those that it could choose."""
        own, legal = seen[-1].own, self.choices(seen[:-1])
        if own is not None and own not in legal:
            raise Contradiction(f"own_action: got {own}, expected one of the {len(legal)} that were legal")

    def told(self, seen: Sequence[Seen]) -> str:
        return seen[-1].text

    def word(self, answer: int, seen: Sequence[Seen]) -> str:
        return seen[-1].names[seen[-1].actions.index(answer)]

    def warm_up(self, player: Player[None, Seen, int], seat: Seat) -> None:
        self.wire.rehearse(player, Limit(nodes=_WARM_NODES))

    def begun(self, nature: Nature) -> Referee:
        return Referee(self._game, nature)

    def document(self, referee: Referee, headers: Mapping[str, str]) -> Document:
        return super().document(referee, headers) | {
            "game": self.title,
            **{key.lower(): value for key, value in headers.items()},
            "actions": [name for _, _, name in referee.actions],
            "seats": ["white" if seat else "black" for seat, _, _ in referee.actions],
            "history": referee.history,
            "returns": referee.returns,
        }

    def line(self, referee: Referee, played: Played[int]) -> Document:
        return {"action": referee.actions[played.ply - 1][2]}

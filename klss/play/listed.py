"""The whole tree of a small game, from its rules alone, for :func:`klss.solve`.

An infoset is what a seat was shown and has answered, in this order, also where it waits. If waits break perfect recall,
because a seat waits in one branch and not in another, they are no infosets: then the game can be solved, but not
divided into subgames. A win pays 1, a loss −1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import chain, islice
from typing import Any

from klss.errors import GameError, TooLargeError
from klss.play.outcome import Seat
from klss.play.possible import after, every
from klss.play.small_game import PlainKit
from klss.support.memory import check_memory
from klss.theory.game import Game, GameBuilder


def listed(
    kit: PlainKit[Any, Any, Any, Any],
    max_nodes: int,
    max_bytes: int | None = None,
    tell: Callable[[int], None] = lambda _: None,
) -> Game:
    """Return the game of ``kit``; player 0 is the seat True. ``tell`` is called with the number of nodes. Raises
    GameError: it breaks a law of :class:`klss.theory.game.GameBuilder`; TooLargeError: more than ``max_nodes`` nodes,
    or ``max_bytes`` of this process.
    """
    builder = GameBuilder()

    def added(node: int) -> int:
        tell(node + 1)
        if node % 1000 == 0:
            check_memory(f"{kit.title}: after {node:,} nodes its tree", 0, max_bytes)
        if node >= max_nodes:
            raise TooLargeError(f"{kit.title}: more than {max_nodes:,} nodes; expected fewer", "max_nodes")
        return node

    # Plays that are not listed: the node above and its action, the play of nature's draws after it, and what each seat
    # knew there, with how many observations that were.
    Known = dict[Seat, tuple[str, int]]
    left: list[tuple[int | None, str | None, Any, Known]] = [(None, None, kit.begun, {True: ("", 0), False: ("", 0)})]
    while left:
        above, edge, play, known = left.pop()
        draws = every(play)
        first = [*islice(draws, 2)]  # the others one by one: there may be more of them than nodes are allowed
        if len(first) > 1:
            above = added(builder.add_chance(above, edge))
        for k, referee in enumerate(chain(first, draws)):
            name, share = (str(k + 1), referee.nature.share) if len(first) > 1 else (edge, 1.0)
            if referee.outcome is not None:
                won = {True: 1.0, False: -1.0, None: 0.0}[referee.outcome.winner]
                added(builder.add_terminal(above, name, utility=won, probability=share))
                continue
            seat, now = referee.turn, Known()
            for each, (text, told) in known.items():
                seen = referee.observations(each)
                now[each] = text + "".join(f"> {shown}\n" for shown in seen[told:]), len(seen)
            mine, yours = (text if each == seat else f"[waits] {text}" for each, (text, _) in now.items())
            player = 0 if seat else 1
            node = added(
                builder.add_decision(above, name, player=player, observations=(mine, yours), probability=share)
            )
            for answer in kit.choices(referee.observations(seat)):
                word = kit.word(answer, referee.observations(seat))
                then = now | {seat: (f"{now[seat][0]}< {word}\n", now[seat][1])}
                left.append((node, word, partial(after, referee, answer), then))
    try:
        return builder.build()
    except GameError:
        return builder.build(waits=False)

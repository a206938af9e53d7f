"""How the games of a match begin."""

from __future__ import annotations

import chess
import pytest

from darkchess.board.position import Position
from uci_bridge.kits.fog import FOG
from uci_bridge.match.openings import OpeningError, king_hangs, random_opening


def test_random_openings_are_legal_go_on_and_leave_no_king_to_be_captured() -> None:
    seen = set()
    for seed in range(60):
        opening = random_opening(7, seed)
        referee = FOG.referee(FOG.setup(opening.fen), opening.moves)
        assert referee.ply == 7 and referee.outcome is None and not king_hangs(referee.position)
        seen.add(opening)
    assert len(seen) > 55


@pytest.mark.parametrize(
    ("fen", "hangs"),
    [
        (chess.STARTING_FEN, False),
        ("4k3/8/8/8/4R3/8/8/4K3 w - - 0 1", True),  # takes at once
        ("4k3/8/8/8/4R3/8/8/4K3 b - - 0 1", True),  # in a check that it may not see
        ("4k3/8/8/8/4R3/8/8/4K3 b - - 0 1".replace("4R3", "3R4"), False),
        ("4k3/3P4/8/8/8/8/8/4K3 b - - 0 1", True),
    ],
)
def test_a_king_hangs_where_either_side_could_take_it(fen: str, hangs: bool) -> None:
    assert king_hangs(Position.from_fen(fen)) is hangs


def test_where_no_opening_can_be_found_that_is_said() -> None:
    with pytest.raises(OpeningError):
        random_opening(5, 1, "k7/8/K7/8/8/8/8/8 w - - 97 80")  # fifty moves without a capture

"""The engine that plays against what others believe."""

from __future__ import annotations

import chess
import numpy as np
import pytest

from darkchess import Referee
from darkchess.board.move import decode, encode
from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.belief.policy import Policy
from darkchess.fog.players.configuration import ConfigurationError
from darkchess.fog.players.configuration import configuration as named
from experiments.players.contrary import Contrary, ContraryPlayer
from experiments.players.specs import configuration
from klss.search.root_values import root_values
from klss.table.limits import Limit


def contrary(text: str) -> ContraryPlayer:
    search = configuration(text).search
    assert isinstance(search, Contrary)
    return ContraryPlayer(BuiltinEvaluator(), search, seed=3, cap=10_000_000, threads=2)


def moved(text: str, fen: str | None, color: chess.Color = chess.WHITE) -> tuple[chess.Move, Referee]:
    """What it moves in a position that it knows, with 400 nodes."""
    referee = Referee(fen)
    player = contrary(text)
    player.start(referee.view(color), referee.position)
    try:
        return player.choose(Limit(nodes=400)).answer, referee
    finally:
        player.close()


@pytest.mark.parametrize("fen", [None, "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"])
def test_where_everything_is_good_enough_it_makes_the_least_likely_move(fen: str | None) -> None:
    move, referee = moved("kluss-contrary,margin=2", fen)
    likely = Policy.packaged().likelihoods(referee.position.row)
    assert likely.keys() == {encode(each) for each in referee.legal_moves()}
    assert encode(move) == min(likely, key=lambda code: (likely[code], code))


def test_of_the_moves_within_its_margin_it_makes_the_least_likely() -> None:
    referee = Referee()
    player = contrary("kluss-contrary,margin=0.05")
    player.start(referee.view(chess.WHITE), referee.position)
    move = encode(player.choose(Limit(nodes=400)).answer)
    standing = player._thinking.search.standing
    found = root_values(standing.trunk, standing.profile)
    mix = float(found.probabilities @ np.nan_to_num(found.values))
    good = {int(code) for code, value in zip(found.actions, found.values, strict=True) if value >= mix - 0.05}
    likely = Policy.packaged().likelihoods(referee.position.row)
    assert 1 < len(good) < len(likely)
    assert move == min(good, key=lambda code: (likely[code], code))
    assert player.mixture == {decode(move): 1.0}
    player.close()


def test_a_king_is_taken_however_likely_that_is() -> None:
    move, _ = moved("kluss-contrary,margin=2", "4k3/8/8/8/8/8/8/4RK2 w - - 0 1")
    assert move == chess.Move.from_uci("e1e8")


def test_a_margin_is_a_number_from_nothing_on() -> None:
    with pytest.raises(ConfigurationError, match="margin is -1"):
        configuration("kluss-contrary,margin=-1")


def test_it_does_not_ponder_below_a_move_that_it_did_not_make() -> None:
    with pytest.raises(ConfigurationError, match="ponder is true, expected false"):
        configuration("kluss-contrary,ponder=true")
    assert not configuration("kluss-contrary").pondering().ponder


def test_it_is_kluss_but_for_the_margin_and_the_belief_and_no_named_configuration() -> None:
    ours, theirs = named("kluss").fields(), configuration("kluss-contrary").fields()
    assert theirs.keys() - ours.keys() == {"margin"}
    with pytest.raises(ConfigurationError, match="got 'kluss-contrary'"):
        named("kluss-contrary")

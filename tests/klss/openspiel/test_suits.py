"""Deals that differ by suits that do not matter: one of them is listed, and nothing else changes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")

import klss  # noqa: E402
from klss.openspiel import load  # noqa: E402
from klss.theory.equilibrium import solve  # noqa: E402
from klss.theory.folding import fold  # noqa: E402
from klss.theory.sequence_form import sequence_form  # noqa: E402
from klss_app.cli.main import main  # noqa: E402


def poker(suits: int, ranks: int, **changed: object) -> str:
    rules = {
        "betting": "limit", "numPlayers": 2, "numRounds": 2, "blind": "1 1", "firstPlayer": "1 1", "numHoleCards": 1,
        "numBoardCards": "0 1", "raiseSize": "2 4", "maxRaises": "1 1", "numSuits": suits, "numRanks": ranks,
    }  # fmt: skip
    return f"universal_poker({','.join(f'{name}={value}' for name, value in (rules | changed).items())})"


@pytest.mark.parametrize(
    ("name", "least"),
    [
        (poker(2, 3), 4),
        (poker(4, 2), 10),
        (poker(3, 3, numBoardCards="0 2", maxRaises="0 1"), 10),
        (poker(3, 2, numHoleCards=2, maxRaises="0 1"), 10),
        (poker(2, 4, numBoardCards="0 4", maxRaises="0 0"), 1),  # with flushes
        ("kuhn_poker", 1),
        ("liars_dice(dice_sides=3)", 1),
    ],
)
def test_the_game_folded_while_listing_is_the_one_folded_afterwards(name: str, least: float) -> None:
    whole, listed = load(name), load(name, alike=True)
    assert listed.node_count * least <= whole.node_count
    folded, same = (fold(sequence_form(game)).form for game in (whole, listed))
    assert folded.payoff.shape == same.payoff.shape and folded.payoff.nnz == same.payoff.nnz
    np.testing.assert_allclose(np.sort(same.payoff.data), np.sort(folded.payoff.data), rtol=0.0, atol=1e-12)
    for sizes in zip(folded.treeplexes, same.treeplexes, strict=True):
        assert np.array_equal(*(np.sort(each.action_count) for each in sizes))
    assert solve(same).value == pytest.approx(solve(folded).value, abs=1e-9)


@pytest.mark.parametrize("name", [poker(3, 2), poker(3, 2, numHoleCards=2, maxRaises="0 1")])
def test_a_solution_names_every_infoset_of_the_whole_game(name: str, tmp_path: Path) -> None:
    whole, solution = load(name), klss.solve(name)
    assert solution.game is not None and not solution.game.whole
    for player in (0, 1):
        observations = whole.observations[player]
        assert set(solution.strategy(player)) == {observations.keys[j] for j in observations.turn_infosets}
    first, second = klss.exploit(name, solution)
    assert first.value == pytest.approx(float(solution.value), abs=1e-9)
    assert first.gain is not None and second.gain is not None and first.gain + second.gain < 1e-7
    again = klss.exploit(solution, solution)[0]
    assert again.worst_case == first.worst_case
    infoset = next(iter(solution.strategy(1)))
    assert klss.subgame(name, infoset, solution, player=1).margin == pytest.approx(0.0, abs=1e-7)
    # In a file, which is there though the whole game is too large for a subgame: read as listed, unless what is alike
    # differs there.
    path, nodes = tmp_path / "poker.json", str(solution.game.node_count)
    assert main(["solve", name, "--out", str(path), "--subgame", infoset, "--player", "1", "--max-nodes", nodes]) == 2
    loaded = klss.load(path)
    assert loaded.game is not None and loaded.game.node_count == solution.game.node_count
    assert loaded.value == pytest.approx(float(solution.value), abs=1e-9)
    path.write_text(path.read_text().replace(": 1.0", ": 0.5", 1))
    with pytest.raises(ValueError, match="alike"):
        klss.load(path)

"""What is left of a gadget's game without its decided infosets: what an obvious loop leaves, and the same value."""

from __future__ import annotations

import numpy as np
import pytest

from klss.paper.subgame import Gadget
from klss.search.equilibrium.program import GadgetProgram
from klss.search.equilibrium.reduction import reduced
from klss.search.gadget import gadget_form
from klss.theory.sequence_form import SequenceForm
from tests.klss.search.test_program import growing

Entries = dict[tuple[int, int], float]


def naive(form: SequenceForm) -> tuple[Entries, tuple[dict[int, int], dict[int, int]]]:
    """Entries that are left, and the chosen sequence of each infoset that is gone, one infoset at a time."""
    payoff = form.payoff.tocoo()
    entries: Entries = {}
    for row, column, value in zip(payoff.row.tolist(), payoff.col.tolist(), payoff.data.tolist()):
        entries[row, column] = value
    gone: tuple[dict[int, int], dict[int, int]] = ({}, {})
    progress = True
    while progress:
        progress = False
        for player, treeplex in enumerate(form.treeplexes):
            parents, firsts = treeplex.parent_sequence.tolist(), treeplex.first_sequence.tolist()
            for infoset in range(player, len(parents)):  # player 1's first infoset is the choice of a root
                own = range(firsts[infoset], firsts[infoset] + int(treeplex.action_count[infoset]))
                below = any(parents[i] in own for i in range(len(parents)) if i not in gone[player])
                mine = {key: value for key, value in entries.items() if key[player] in own}
                others = {key[1 - player] for key in mine}
                if infoset in gone[player] or below or len(others) > 1:
                    continue
                worth = {s: sum(value for key, value in mine.items() if key[player] == s) for s in own}
                best = max(own, key=lambda s: worth[s] if player == 0 else -worth[s])
                gone[player][infoset] = best
                progress = True
                for key in mine:
                    del entries[key]
                if worth[best] != 0.0:
                    other = others.pop()
                    key = (parents[infoset], other) if player == 0 else (other, parents[infoset])
                    entries[key] = entries.get(key, 0.0) + worth[best]
    return entries, gone


def test_what_is_left_is_what_an_obvious_loop_leaves() -> None:
    trunk = list(growing(7))[-1]
    form = gadget_form(trunk)
    expected, gone = naive(form)
    game = reduced(form, trunk.group_count)
    found: Entries = {}
    for row, column, value in zip(game.rows.tolist(), game.columns.tolist(), game.values.tolist()):
        found[row, column] = found.get((row, column), 0.0) + value
    assert found == pytest.approx(expected, abs=1e-12)
    for player in range(2):
        places = (np.flatnonzero(~game.alive[player]) + player).tolist()
        assert places == sorted(gone[player])
        assert game.choice[player][~game.alive[player]].tolist() == [gone[player][infoset] for infoset in places]
    assert min(len(gone[0]), len(gone[1])) > 5, "a case that tells"
    assert len(found) < form.payoff.nnz


@pytest.mark.parametrize("kind", ["maxmargin", "resolve"])
def test_a_reduced_game_has_the_value_and_an_equilibrium_of_the_whole(kind: Gadget) -> None:
    """The gap is that of the whole game, so the actions chosen without a program are part of an equilibrium of it."""
    for trunk in growing():
        penalty = np.full(trunk.infosets[0].size[0], 0.01)
        small = GadgetProgram().solve(trunk, kind, penalty).profile
        whole = GadgetProgram(reduce=False).solve(trunk, kind, penalty).profile
        assert max(small.gap, whole.gap) <= 1e-7
        assert small.objective == pytest.approx(whole.objective, abs=1e-8)

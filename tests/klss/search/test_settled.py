"""A search that has solved the rest of the game plays on."""

from __future__ import annotations

from klss.paper.tables import mirrored
from klss.search import Budget, EnumeratedBelief, EnumeratedModel, Klss2021, Search
from tests.klss.games import kuhn


class Sample(EnumeratedBelief):
    """What is held possible, said to be a sample."""

    capped_by = "time"  # type: ignore[assignment]


def test_a_move_that_needs_no_search_says_what_the_belief_says_of_itself() -> None:
    game = mirrored(kuhn())  # player 0 moves second: what comes before is nature's and the opponent's
    model = EnumeratedModel(game)
    search = Search(model, Klss2021(caution=1.0), seed=0)
    search.begin(model.root, Budget(nodes=1000))
    node = 0
    while game.player[node] != 0:
        node = int((game.parent == node).argmax())
        search.observe(-1, int(game.infoset[0][node]) + 1, bool(game.player[node] == 0))
    belief = Sample(game, int(game.infoset[0][node]))
    report = search.search(belief, Budget(nodes=1000)).report
    assert (report.nodes, report.carried, report.sampled) == (0, belief.size, 0), "nothing is searched"
    assert report.capped_by == "time"

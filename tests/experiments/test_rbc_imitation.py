"""``experiments.rbc_learn.imitation``: games among players that stand, and what each of them decided."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from darkchess.rbc.synoptic.networks import HEADSETS
from darkchess.rbc.synoptic.worlds import ACTIONS
from experiments.rbc_learn import imitation
from experiments.rbc_learn.data import of_rows, read_shard
from experiments.rbc_learn.imitation import main, played

STAGE = 10
OWN_PAWNS = 12


def test_a_game_gives_what_both_decided_and_how_it_ended_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imitation, "SCHEDULE", (("expect", "random"),))
    monkeypatch.setattr(imitation, "MOST", 3000)
    found = of_rows([row for game in range(3) for row in played(game, 1)])
    assert set(found.headset) == {HEADSETS.index("expect"), HEADSETS.index("random")}
    for game in range(3):
        results = {
            kind: set(found.result[(found.game == game) & (found.headset == kind)]) for kind in set(found.headset)
        }
        assert all(len(values) == 1 for values in results.values())
        assert sum(sum(values) for values in results.values()) == 0
    moving = found.synopses[:, STAGE] != 0
    looks = np.array([(found.legal[a:b] % 65 == 64).any() for a, b in zip(found.legal_starts, found.legal_starts[1:])])
    # To pass is action 4160, which is no sense: its remainder by 65 is 0.
    assert (looks == ~moving).all()
    assert (np.diff(found.legal_starts)[~moving] == 36).all()
    assert (np.diff(found.chosen_starts)[moving] == 1).all()
    assert (found.legal[found.legal_starts[1:] - 1][moving] == ACTIONS - 1).all()
    pawns = [int(planes).bit_count() for planes in found.synopses[:, OWN_PAWNS]]
    assert (found.pieces[:, 0] == pawns).all()
    assert (found.pieces[:, [5, 11]] == 1).all()


def test_a_game_ends_soon_for_both_in_their_last_five_actions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imitation, "SCHEDULE", (("expect", "attacker"),))
    found = of_rows(played(1, 1))
    for kind in set(found.headset):
        own = found.headset == kind
        assert np.flatnonzero(found.soon[own]).tolist() == list(range(own.sum() - 5, own.sum()))
        assert set(found.soon[own]) == {0, found.result[own][0]}


def test_the_command_goes_on_where_it_stopped_to_the_same_shards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imitation, "SCHEDULE", (("attacker", "random"),))
    monkeypatch.setattr(imitation, "MOST", 3000)
    given = ["--block", "2", "--seed", "4"]
    assert main(["--out", str(tmp_path / "a"), "--decisions", "1", *given]) == 0
    first = tmp_path / "a" / "games-000000.npz"
    written = first.stat().st_mtime_ns
    held, _ = read_shard(first)
    assert main(["--out", str(tmp_path / "a"), "--decisions", str(len(held) + 1), *given]) == 0
    assert first.stat().st_mtime_ns == written
    assert main(["--out", str(tmp_path / "b"), "--decisions", str(len(held) + 1), *given]) == 0
    for name in ("games-000000.npz", "games-000002.npz"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    first.write_bytes(first.read_bytes()[:100])
    assert main(["--out", str(tmp_path / "a"), "--decisions", "1", *given]) == 0
    assert len(read_shard(first)[0]) == len(held)

"""``experiments.belief data`` and ``siamese``: what is learned from, and that learning learns."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import chess
import numpy as np
import pytest

from darkchess import Referee
from darkchess.evaluation.evaluator import BuiltinEvaluator
from darkchess.fog.belief.position_set import PositionSet
from darkchess.fog.belief.siamese import BLOCKS, FEATURES, NUMBERS, Observer, Siamese, board_features
from darkchess.fog.game.record import GameRecord, write_pgn
from experiments.belief import data as belief_data
from experiments.belief import networks
from experiments.belief import siamese as belief_siamese
from experiments.belief.data import DRAWN, TEST, TRAIN, VALIDATE, decisions, part_of, truth_index
from experiments.belief.networks import Arm
from experiments.belief.siamese import PADDING, Decisions, fitted, load, log_shares, measures, rank_fractions
from klss.table.outcome import Outcome

SICILIAN = ("e2e4", "c7c5", "g1f3", "d7d6", "d2d4", "c5d4", "f3d4", "g8f6", "b1c3", "a7a6", "c1e3", "e7e5")
GAME = GameRecord(tuple(map(chess.Move.from_uci, SICILIAN)), Outcome(None, "agreement"))
GAMES = 10
"""Of the match below: pair 3 validates, pair 4 tests."""


@pytest.fixture(scope="module", autouse=True)
def compiled_quickly() -> Iterator[None]:
    """JAX compiles for longer than these few steps take: let it optimise nothing, where it isn't loaded yet."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XLA_FLAGS", "--xla_backend_optimization_level=0")
        yield


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shards of a match of the same short game, ten times over."""
    folder = tmp_path_factory.mktemp("runs") / "match"
    folder.mkdir()
    identity = {"a": {"name": "kluss,threads=1"}, "b": {"name": "greedy"}, "budget": {"nodes": 10}, "seed": 5}
    (folder / "match.json").write_text(json.dumps(identity))
    line = {"winner": None, "reason": "agreement", "plies": len(SICILIAN)}
    with open(folder / "games.jsonl", "w") as file:
        for game in range(GAMES):
            (folder / f"game-{game:05}.pgn").write_text(write_pgn(GAME))
            file.write(json.dumps({"game": game, "pair": game // 2, **line}) + "\n")
    (folder / "moves.jsonl").write_text("")
    out = folder.parent / "shards"
    assert belief_data.main([str(folder), "--out", str(out)]) == 0
    return out


def test_a_decision_is_the_truth_and_other_members_drawn_without_replacement() -> None:
    found = {row["ply"]: row for row in decisions(GAME, [1, 2])}
    again = {row["ply"]: row for row in decisions(GAME, [1, 2])}
    referee, evaluator = Referee(), BuiltinEvaluator()
    known = {color: PositionSet(referee.view(color), referee.position) for color in chess.COLORS}
    observers = {color: Observer(positions) for color, positions in known.items()}
    for ply, move in enumerate(GAME.moves, 1):
        referee.push(move)
        for color, positions in known.items():
            positions.observe(referee.view(color))
            observers[color].observe(positions)
        mine = known[referee.turn]
        row = found.pop(ply)
        assert (row["size"], row["color"]) == (mine.size, referee.turn)
        assert row["count"] == min(mine.size, 1 + DRAWN)
        drawn = {half.tobytes() for half in row["halves"][: row["count"]]}
        assert len(drawn) == row["count"] and drawn <= {half.tobytes() for half in mine.halves}
        assert not row["halves"][row["count"] :].any()
        assert row["halves"][0].tobytes() == mine.halves[truth_index(mine, referee)].tobytes()
        true = float(evaluator.values(referee.position.row[None, :])[0])
        assert float(row["values"][0]) == pytest.approx(true, abs=1e-3)
        assert (row["numbers"] == observers[referee.turn].numbers.astype(np.float16)).all()
        assert row["halves"].tobytes() == again[ply]["halves"].tobytes()
    assert not found


def test_a_game_ends_where_a_set_passes_the_most() -> None:
    sizes = [row["size"] for row in decisions(GAME, [0], most=100)]
    assert sizes and max(sizes) <= 100 < max(row["size"] for row in decisions(GAME, [0]))


def test_shards_are_made_once_and_say_who_played(shards: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (path,) = shards.glob("*.npz")
    before = path.read_bytes()
    assert belief_data.main([str(shards.parent / "match"), "--out", str(shards)]) == 0
    assert "1 shards, of which 0 were made" in capsys.readouterr().out and path.read_bytes() == before
    held, matches = load(shards)
    assert matches[0]["players"] == ["kluss,threads=1", "greedy"] and matches[0]["games"] == GAMES
    assert len(held) == GAMES * len(list(decisions(GAME, [0])))
    # Game 0 has A as White: Black's decisions guess its moves.
    first = held.where(held.game == 0)
    assert held.enemy[first].tolist() == [
        "kluss" if row["color"] == chess.BLACK else "greedy" for row in decisions(GAME, [0])
    ]
    assert set(held.part.tolist()) == {TRAIN, VALIDATE, TEST}
    for index in range(0, len(held), 17):
        assert all(
            len(set(row)) == 1 + (row != PADDING).sum() - (PADDING not in row)
            for row in held.rows[index, : held.count[index]]
        )


def test_parts_are_of_pairs() -> None:
    parts = [part_of(pair) for pair in range(1000)]
    assert [parts.count(part) for part in (TRAIN, VALIDATE, TEST)] == [700, 100, 200]


def test_a_broken_shard_is_made_anew_and_no_games_are_said(tmp_path: Path, shards: Path) -> None:
    (path,) = shards.glob("*.npz")
    whole = path.read_bytes()
    path.write_bytes(whole[:1000])
    assert belief_data.main([str(shards.parent / "match"), "--out", str(shards)]) == 0
    assert path.stat().st_size > 1000
    load(shards)
    assert belief_data.main([str(tmp_path), "--out", str(tmp_path)]) == 1


def test_shares_are_those_of_the_whole_set() -> None:
    scores = np.array([[1.0, 0.0, 2.0, 9.0], [0.5, 0.5, 9.0, 9.0]])
    count, size = np.array([3, 2]), np.array([3, 101])
    shares = np.exp(log_shares(scores, count, size))
    # All three of three drawn; and one of 100 others, for which it stands.
    assert shares == pytest.approx([np.e / (1 + np.e + np.e**2), 1 / 101])
    assert rank_fractions(scores, count).tolist() == [0.5, 0.5]
    uniform = measures(np.zeros((2, 4)), count, size, np.array([0, 1]))
    assert uniform["n>=2"]["nats"] == 0 and uniform["n>=100"]["decisions"] == 1 and uniform["n>=2"]["games"] == 2


def test_the_fitted_factor_is_the_one_that_drew_the_truth() -> None:
    generator = np.random.default_rng(0)
    terms = generator.normal(size=(4000, 20))
    logits = 1.7 * terms
    keys = logits + generator.gumbel(size=logits.shape)
    truth = keys.argmax(axis=1)
    rows = np.arange(4000)
    terms[rows, truth], terms[rows, 0] = terms[rows, 0].copy(), terms[rows, truth].copy()
    full = np.full(4000, 20)
    (factor,) = fitted([10 * terms], full, full)
    assert factor == pytest.approx(0.17, abs=0.01)


def test_the_mirrored_board_is_a_board_seen_in_a_mirror() -> None:
    game = Referee()
    known = PositionSet(game.view(chess.BLACK), game.position)
    observer = Observer(known)
    for move in ("e2e4", "g8f6", "e4e5"):
        game.push(chess.Move.from_uci(move))
        known.observe(game.view(chess.BLACK))
        observer.observe(known)
    numbers = observer.numbers[belief_siamese.MIRRORED_NUMBERS]
    for name, block in BLOCKS.items():
        if name != "scalars":
            planes = observer.numbers[block].reshape(-1, 8, 8)
            assert (numbers[block].reshape(-1, 8, 8) == planes[:, :, ::-1]).all()
    assert (numbers[BLOCKS["scalars"]][:6] == observer.numbers[BLOCKS["scalars"]][:6]).all()
    board = networks.boards_of(board_features(known.halves[:1])[0][None])[0, 0]
    mirrored = board[belief_siamese.MIRRORED_FEATURES]
    assert (mirrored[:384].reshape(6, 8, 8) == board[:384].reshape(6, 8, 8)[:, :, ::-1]).all()
    assert mirrored[384:].tolist() == board[:383:-1].tolist()
    assert sorted(belief_siamese.MIRRORED_NUMBERS) == list(range(NUMBERS)) and board.shape == (FEATURES,)


@pytest.fixture(scope="module")
def tiny() -> Arm:
    return Arm("tower", channels=4, layers=2, epochs=2, batch=16, members=8, rate=3e-2, mirrored=0.0)


def test_training_learns_goes_on_to_the_same_weights_and_is_what_play_computes(
    shards: Path, tiny: Arm, tmp_path: Path
) -> None:
    held, _ = load(shards)
    weights, about = belief_siamese.train(tiny, held, tmp_path)
    rows = about["epochs"]["rows"]
    assert len(rows) == 2 and rows[-1][2] > 0.5  # the same game again and again: nats over uniform
    stopped = tmp_path / "stopped"
    stopped.mkdir()
    belief_siamese.train(dataclasses.replace(tiny, epochs=1), held, stopped)
    again, _ = belief_siamese.train(tiny, held, stopped)
    assert all((weights[name] == again[name]).all() for name in weights)
    check_inference(held, tiny, weights)


def check_inference(held: Decisions, arm: Arm, weights: dict[str, np.ndarray]) -> None:
    """What JAX trains is what numpy and numba score."""
    import jax

    chosen = held.where(held.part == TEST)[:8]
    found = belief_siamese.scores_on(jax, arm, weights, held, chosen)
    seen = belief_siamese.grids_of(held.numbers[chosen].astype(np.float32))
    boards = networks.boards_of(held.rows[chosen])
    keep = np.ones((8, arm.channels), dtype=np.float32)
    wanted = np.asarray(networks.tower_scores(jax, weights, seen, boards, keep))
    valid = np.arange(1 + DRAWN) < held.count[chosen][:, None]
    np.testing.assert_allclose(found[valid], wanted[valid], rtol=1e-3, atol=1e-3)


def test_the_command_writes_weights_with_their_history_and_what_they_are_worth(
    shards: Path, tiny: Arm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(belief_siamese.ARMS, "tower", tiny)
    package = tmp_path / "package" / "siamese.npz"
    arguments = [str(shards), "--out", str(tmp_path / "out"), "--arms", "tower", "without", "--epochs", "1"]
    arguments += ["--package", str(package), "--results", str(tmp_path)]
    assert belief_siamese.main(arguments) == 0
    document = json.loads((tmp_path / "belief_siamese.json").read_text())
    assert set(document["arms"]) == {"tower", "tower-without-kluss", "tower-without-greedy"}
    for name, arm in document["arms"].items():
        assert set(arm["test"]["by_enemy"]) == {"kluss", "greedy"} and arm["test"]["calibrated"]["n>=20"]["games"] == 2
        assert arm["games"] == 6 and arm["decisions"][0] == (
            document["decisions"]["train"] // (1 if name == "tower" else 2)
        )
    history = Siamese.load(package).towers.history
    assert history["matches"][0]["players"] == ["kluss,threads=1", "greedy"]
    assert history["arm"]["name"] == "tower" and len(history["epochs"]["rows"]) == 1
    before = (tmp_path / "belief_siamese.json").read_bytes()
    capsys.readouterr()
    monkeypatch.setattr(belief_siamese, "train", None)  # what is done is not done again
    assert belief_siamese.main(arguments) == 0 and (tmp_path / "belief_siamese.json").read_bytes() == before


def test_without_shards_there_is_nothing_to_train_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert belief_siamese.main([str(tmp_path), "--out", str(tmp_path / "out")]) == 1
    assert capsys.readouterr().err.startswith(f"no shards in {tmp_path}")

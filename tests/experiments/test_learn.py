"""``experiments.learn``: decisions of games, the trainer, and that what was trained is what plays."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import chess
import numpy as np
import pytest

from darkchess import Referee as FogReferee
from darkchess.board.position import Position
from darkchess.evaluation.evaluator import BuiltinEvaluator, packaged_weights
from darkchess.evaluation.kernels.evaluation import new_scratch, static
from darkchess.evaluation.kernels.network import OFFSETS
from darkchess.fog.belief import tower as of_fog
from darkchess.fog.belief.position_set import PositionSet as FogSet
from darkchess.fog.game.record import GameRecord, write_pgn
from darkchess.rbc import Referee
from darkchess.rbc.belief.kinds import Kinds
from darkchess.rbc.belief.position_set import PositionSet
from darkchess.rbc.belief.siamese import Siamese as Pair
from darkchess.rbc.belief.tower import BLOCKS, Observer, Tower
from darkchess.rbc.game.history import history_text, replayed
from darkchess.rbc.players.scripted import AttackerPlayer, RandomPlayer
from darkchess.rbc.synoptic.networks import network_of
from darkchess.rbc.synoptic.worlds import ACTIONS, request_action
from darkchess.weighting.enemy_features import FEATURES, features_of
from experiments.learn import __main__ as program
from experiments.learn import evaluation, fog, selfplay, shards, siamese, trainer
from experiments.learn.blind import DSMCP
from experiments.learn.layers import Jax
from experiments.learn.planning import Planning, policy_loss
from experiments.learn.shards import ARCHIVE, TEST, TRAIN, VALIDATE, TrainingError, load, make, part_of
from experiments.learn.trainer import Plan, Study, train
from experiments.learn.weighing import DRAWN, Weighing, mirrored_features, mirrored_numbers
from experiments.series import SERIES
from klss.play.arbiter import Arbiter
from klss.play.limits import Limit
from klss.support.archive import read_arrays
from klss.support.inference import history_of

SOURCES = {name: recipe.source for name, recipe in program.RECIPES.items() if recipe.source is not None}
FEW = selfplay.Schedule(games=2, nodes=6, particles=4, epochs=1, fen="4k3/7r/8/8/8/8/R7/4K3 w - - 0 1")
SICILIAN = ("e2e4", "c7c5", "g1f3", "d7d6", "d2d4", "c5d4", "f3d4", "g8f6", "b1c3", "a7a6")


@pytest.fixture(scope="module")
def match(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Games of blind chess, as a match keeps them: five, so that every part has some."""
    out = tmp_path_factory.mktemp("runs") / "match"
    out.mkdir()
    for number, seed in enumerate((7, 13, 15, 18, 20)):  # games of eleven turns
        referee = Referee()
        players = {chess.WHITE: AttackerPlayer(seed=seed), chess.BLACK: RandomPlayer(seed=seed)}
        Arbiter(referee, players, dict.fromkeys(chess.COLORS, Limit(nodes=1))).play()
        text = history_text(referee, "rbc-tower,threads=1", "random")
        (out / f"game-{number:05}.json").write_text(text)
    return out


@pytest.fixture(scope="module")
def made(match: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Decisions of games, one game a shard, by what they are for."""
    people = match.parent / "people.pgn"
    record = GameRecord(tuple(map(chess.Move.from_uci, SICILIAN)))
    people.write_text(
        "\n".join(write_pgn(replace(record, headers={"White": f"a{i}", "Black": f"b{i}"})) for i in range(3))
    )
    folders = {game: tmp_path_factory.mktemp(game) for game in ("rbc", "siamese", "dsmcp", "fog", "policy")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shards, "BLOCK", 1)
        for game, folder in folders.items():
            path = match if game in ("rbc", "siamese", "dsmcp") else people
            make(SOURCES[game], [("own", path)], folder, print)
    return folders


def real_halves(game: str, match: Path) -> set[tuple[int, ...]]:
    """Each player's enemies at its turns, of the games that decisions are made of."""
    if game == "fog":
        referee, real = FogReferee(), set()
        sets = {color: FogSet(referee.view(color), referee.position) for color in chess.COLORS}
        for move in SICILIAN:
            referee.push(chess.Move.from_uci(move))
            for color, known in sets.items():
                known.observe(referee.view(color))
            known = sets[referee.turn]
            real.add(tuple(known.halves[known.indices(referee.position.row)[0]].tolist()))
        return real
    games = [replayed(path.read_text()) for path in match.glob("game-*.json")]
    turns = [(turn.color, played.positions[ply]) for played in games for ply, turn in enumerate(played.turns)]
    return {tuple(PositionSet(*turn).halves[0].tolist()) for turn in turns}


def held(folder: Path, game: str) -> shards.Arrays:
    return load(sorted(folder.glob("*.npz")), SOURCES[game].columns)


@pytest.mark.parametrize("game", ["rbc", "fog"])
def test_decisions_hold_the_truth_other_members_and_what_was_told(
    match: Path, made: dict[str, Path], game: str
) -> None:
    found, real = held(made[game], game), real_halves(game, match)
    now = {"rbc": BLOCKS, "fog": of_fog.BLOCKS}[game]["now"]
    assert (found["count"] == np.minimum(found["size"], 1 + DRAWN)).all() and found["size"].min() >= 2
    assert len(found["count"]) > 15
    for size, count, each, standing, prior, numbers in zip(
        *(found[name] for name in ("size", "count", "halves", "standing", "prior", "numbers")), strict=True
    ):
        halves = [tuple(half) for half in each.tolist()]
        assert len(set(halves[:count])) == count and not any(half != (0, 0) for half in halves[count:])
        assert halves[0] in real
        # What the members stand for makes up the set; their weights by the filter, its probability.
        assert np.exp(standing[:count]).sum() == pytest.approx(size, rel=1e-4)
        if size <= 1 + DRAWN:
            assert game == "fog" or np.exp(prior[:count]).sum() == pytest.approx(1.0, abs=1e-3)
            rows, pieces = features_of(each[:count])
            present = np.arange(rows.shape[1]) < pieces[:, None]
            shares = np.bincount(rows[present], minlength=FEATURES)[:384] / count
            np.testing.assert_allclose(numbers[now], shares, atol=1e-3)


def test_what_is_imitated_is_what_the_players_did(match: Path, made: dict[str, Path]) -> None:
    paths = sorted(made["dsmcp"].glob("own-match-*.npz"))
    for path, text in zip(paths, sorted(match.glob("game-*.json")), strict=True):
        found, game, at = ARCHIVE.load(path)[0], replayed(text.read_text()), 0
        assert game.outcome is not None
        for color, name in ((chess.WHITE, "tower"), (chess.BLACK, "random")):
            for turn in (turn for turn in game.turns if turn.color == color):
                own, won = PositionSet(color, turn.before), game.outcome.winner
                request = request_action(own.code(turn.moved.requested))
                for asked, action in ((turn.sensed.square, None), (turn, request)):
                    if asked is None or (action is None and asked is turn):  # no look; no promotion to a queen
                        continue
                    legal, choices, targets = (found[key][at] for key in ("legal", "choices", "targets"))
                    chosen = (legal >= 0) & (choices == 0)
                    assert legal[chosen].tolist() == [action] if asked is turn else (legal >= 0).sum() == 36
                    assert targets[chosen].sum() == pytest.approx(1, abs=1e-2) and not targets[~chosen].any()
                    assert found["strong"][at] == (name == "tower")
                    assert found["result"][at] == (0 if won is None else 1 if won == color else -1)
                    assert found["pieces"][at].tolist() == pieces(turn.before, color)
                    at += 1
        assert at == len(found["game"])


def pieces(position: Position, color: chess.Color) -> list[int]:
    board = chess.Board(position.fen())
    return [len(board.pieces(kind, side)) for side in (color, not color) for kind in chess.PIECE_TYPES]


def test_a_shard_that_is_there_is_kept_and_another_one_is_made_the_same(
    match: Path, made: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shards, "BLOCK", 1)
    games, kept = tmp_path / "match", tmp_path / "shards"
    games.mkdir()
    shutil.copy(match / "game-00000.json", games)
    (games / "game-00001.json").write_text('{"type": "GameHistory"}')  # a game that ended before its first move
    stamps = []
    for _ in range(2):
        make(SOURCES["dsmcp"], [("own", games)], kept, print)
        stamps.append((kept / "own-match-00000.npz").stat().st_mtime_ns)
    assert stamps[0] == stamps[1]
    assert (kept / "own-match-00000.npz").read_bytes() == (made["dsmcp"] / "own-match-00000.npz").read_bytes()
    assert len(ARCHIVE.load(kept / "own-match-00001.npz")[0]["game"]) == 0
    with pytest.raises(TrainingError, match="another label"):
        make(SOURCES["dsmcp"], [("own", games), ("own", tmp_path / "other" / "match")], kept, print)


def test_games_of_people_are_split_by_player(tmp_path: Path) -> None:
    # ann has most games, ben comes next, then cat; the others have one each.
    players = [("ann", "cat"), ("ann", "cat"), ("ann", "dan"), ("eve", "ann"), ("ben", "fay"), ("gus", "ben")]
    players += [("ben", "ann"), ("cat", "ben")]
    moves = tuple(map(chess.Move.from_uci, SICILIAN))
    text = "\n".join(write_pgn(GameRecord(moves, headers={"White": a, "Black": b})) for a, b in players)
    (tmp_path / "people.pgn").write_text(text + '\n[Variant "Fog of War"]\n\n1. e4 e4 *\n')
    parts = [part_of(number) for number, _ in fog.games_of(tmp_path / "people.pgn")]
    # ben is tested on; his games with ann and cat, who are learned from, are left out, and so is one that is torn.
    assert (parts.count(TRAIN), parts.count(TEST), len(parts)) == (4, 2, 6)


def test_what_can_not_be_learned_from_is_told_in_one_line(
    made: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "none.pgn").write_text("")
    shutil.copytree(made["rbc"], tmp_path / "other" / "data")
    for name, out, given in (
        ("rbc", "out", [f"own={tmp_path}"]), ("fog", "out", [f"own={tmp_path / 'none.pgn'}"]),
        ("fog", "out", [f"own={tmp_path / 'missing.pgn'}"]), ("rbc", "out", []), ("fog", "other", []),
    ):  # fmt: skip
        matches = ["--matches", *given] if given else []
        assert program.main([name, "--share", "0", "--out", str(tmp_path / out), *matches]) == 1
        assert capsys.readouterr().err.strip().count("\n") == 1  # what is made, and the error
    (made["rbc"] / "torn.npz").write_bytes(b"dear sir,\n" * 50)
    try:
        with pytest.raises(TrainingError, match=r"torn\.npz"):
            held(made["rbc"], "rbc")
    finally:
        (made["rbc"] / "torn.npz").unlink()


def test_positions_of_a_kind_are_made_until_all_are_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Mock(side_effect=[None, KeyboardInterrupt, None, None, None])
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "searched-2-00000.npz").touch()  # made before the stop; nothing can be learned from it
    monkeypatch.setattr(program, "make_positions", made)
    monkeypatch.setitem(SERIES, "learn_evaluation", replace(SERIES["learn_evaluation"], matches={}))
    assert [program.main(["evaluation", "--out", str(tmp_path)]) for _ in range(2)] == [130, 1]
    assert [call.args[2] for call in made.call_args_list] == [1, 2, 2, 3, 4]


def test_own_games_are_by_the_seed_and_passes_that_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Mock(return_value=(print, {}))
    monkeypatch.setattr(selfplay, "generations", made)
    for given in ([], ["--epochs", "5", "--seed", "4"]):
        assert program.main(["rl", "--out", str(tmp_path), *given]) == 0
    asked = [call.args[1] for call in made.call_args_list]
    assert [(each.epochs, each.seed) for each in asked] == [(2, 19), (5, 23)]
    with pytest.raises(SystemExit, match="2"):
        program.main(["rl", "--matches", "own=here"])


def test_the_mirrored_board_is_a_board_seen_in_a_mirror() -> None:
    known = PositionSet(chess.WHITE, Referee("4k3/8/8/8/1P6/8/8/R3K3 w Q - 0 1").position)
    numbers = Observer(known, Kinds(known, 0.5)).numbers
    mirrored = numbers[mirrored_numbers(BLOCKS)]
    for name in BLOCKS.names[:-1]:
        planes, others = (each[BLOCKS[name]].reshape(-1, 8, 8) for each in (numbers, mirrored))
        assert (others == planes[:, :, ::-1]).all()
    assert (numbers[-2:].tolist(), mirrored[-2:].tolist()) == ([0, 1], [1, 0])
    assert mirrored_features()[384:].tolist() == [385, 384, *range(393, 385, -1), FEATURES]


# ----------------------------------------------------------------------------------------------------------------------
# training


class Line(Study):
    """A study that is quick: a line through points."""

    held, batch = {"part": np.array(80 * [TRAIN] + 16 * [VALIDATE])}, 8

    def __init__(self, of: str = "points") -> None:
        self.of = of

    def first(self, seed: int) -> Any:
        return {"slope": np.zeros(3, dtype=np.float32)}

    def batch_of(self, some: Any) -> Any:
        points = np.random.default_rng(some).normal(size=(8, 3)).astype(np.float32)
        return points, points @ np.array([1, -2, 3], dtype=np.float32)

    def loss(self, weights: Any, batch: Any) -> Any:
        points, values = batch
        return ((points @ weights["slope"] - values) ** 2).mean()


@pytest.mark.slow
def test_a_training_learns_and_one_that_was_stopped_goes_on_to_the_same_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("optax", exc_type=ImportError)
    monkeypatch.setattr("experiments.learn.trainer.KEEP_EVERY_S", 0.0)
    plan, left = Plan(6, rate=0.3), [10**9]

    class Stopped(Line):
        def learned(self, generator: np.random.Generator) -> Iterator[Any]:
            for batch in super().learned(generator):
                left[0] -= 1
                if left[0] < 0:
                    raise KeyboardInterrupt
                yield batch

    whole, rows = train(Line(), plan, tmp_path / "whole.npz", print)
    assert rows[-1][2] < 0.05 * rows[0][2] and [row[0] for row in rows] == [1, 2, 3, 4, 5, 6]
    for stop in (7, 30, 10**9):
        left[0] = stop
        if stop < 10**9:
            with pytest.raises(KeyboardInterrupt):
                train(Stopped(), plan, tmp_path / "torn.npz", print)
    again, others = train(Stopped(), plan, tmp_path / "torn.npz", print)
    assert (whole["slope"] == again["slope"]).all() and [row[:3] for row in others] == [row[:3] for row in rows]
    with pytest.raises(TrainingError, match="choose another --out"):
        train(Line("lines"), plan, tmp_path / "torn.npz", print)
    (tmp_path / "torn.npz").write_bytes((tmp_path / "torn.npz").read_bytes()[:300])
    with pytest.raises(TrainingError, match=r"torn\.npz"):
        train(Line(), plan, tmp_path / "torn.npz", print)


@pytest.mark.slow
def test_a_choice_of_several_actions_has_the_sum_of_their_probabilities() -> None:
    pytest.importorskip("jax")
    legal = np.array([[10, 20, 30, 4160, -1]])
    batch = {"legal": legal, "choices": np.array([[0, 1, 0, 2, 0]]), "targets": np.array([[0.25, 0.25, 0.25, 0.25, 0]])}
    logits = np.full((1, ACTIONS), 9.0, dtype=np.float32)  # what is not legal is likelier than all of them
    logits[0, legal[0, :4]] = np.log([0.5, 0.125, 0.25, 0.125]) + 3
    wanted = -0.5 * np.log(0.75) - 0.5 * np.log(0.125)
    np.testing.assert_allclose(policy_loss(logits, batch), wanted, rtol=1e-5)
    # An unlikely choice has a loss and a slope.
    batch = {"legal": legal, "choices": np.array([[0, 1, 0, 1, 0]]), "targets": np.array([[0.5, 0, 0.5, 0, 0]])}
    logits[0, legal[0, :4]] = [-300, 0, -300, 0]
    value, slope = trainer.jax.value_and_grad(lambda some: policy_loss(some, batch)[0])(logits)
    assert 298 < float(value) < 302
    np.testing.assert_allclose(np.asarray(slope)[0, legal[0, :4]], [-0.5, 0.5, -0.5, 0.5], atol=1e-4)


@pytest.mark.slow
def test_scores_in_play_are_those_that_were_trained(made: dict[str, Path], tmp_path: Path) -> None:
    pytest.importorskip("optax", exc_type=ImportError)
    study = Weighing(held(made["rbc"], "rbc"), BLOCKS, channels=4, layers=2)
    weights = study.first(3)
    study.write(weights, tmp_path / "network.onnx", {})
    player = Tower((tmp_path / "network.onnx").read_bytes())
    seen, rows, _, keep = study.batch_of(np.arange(8))
    wanted = np.asarray(trainer.jax.jit(study.scores)(weights, seen, rows, keep))
    for i in range(8):
        halves, count = study.held["halves"][i], int(study.held["count"][i])
        found = player.scores(study.held["numbers"][i].astype(np.float32), halves, np.arange(count))
        np.testing.assert_allclose(found, wanted[i, :count], rtol=1e-3, atol=1e-3)


@pytest.mark.slow
def test_the_network_in_play_says_what_was_trained(made: dict[str, Path], tmp_path: Path) -> None:
    pytest.importorskip("optax", exc_type=ImportError)
    study = Planning(held(made["dsmcp"], "dsmcp"), channels=4, blocks=1)
    weights = study.first(3)
    study.write(weights, tmp_path / "network.onnx", {})
    # The statistics for play are those of one large batch: this one.
    rows = np.random.default_rng(0).permutation(shards.where(study.held, TRAIN))[:1024]
    said, _ = trainer.jax.jit(study.outputs)(weights, study.batch_of(rows)["synopses"])
    logits, values = network_of(str(tmp_path / "network.onnx")).infer(study.held["synopses"][rows])
    np.testing.assert_allclose(logits, said["top"]["logits"], atol=1e-3)
    np.testing.assert_allclose(values, said["all"]["value"][:, 0], atol=1e-3)


@pytest.mark.slow
def test_the_tuned_evaluation_is_the_played_one() -> None:
    pytest.importorskip("jax")
    with resources.files("darkchess.evaluation").joinpath("data/evaluation_positions.npz").open("rb") as file:
        rows = np.load(file)["rows"][::40]
    weights = {name: packaged_weights().part(name) for name in OFFSETS}
    everything = {"rows": rows, "values": np.zeros(len(rows), np.float32), "part": np.full(len(rows), VALIDATE)}
    ((counts, phases, stages, _),) = evaluation.Tuning(everything, weights).batches(VALIDATE)
    wanted = [static(row, BuiltinEvaluator()._knowledge, new_scratch()) for row in rows]
    found = np.clip(evaluation.pawns(weights, counts, phases, stages), -50, 50)
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-3)


@pytest.mark.slow
def test_a_training_without_gain_gets_harder_and_ends_early(tmp_path: Path) -> None:
    pytest.importorskip("optax", exc_type=ImportError)

    class Even(Line):
        def loss(self, weights: Any, batch: Any) -> Any:
            return 0 * weights["slope"].sum() + 1

        def began(self, failed: int) -> None:
            each.append(failed)

    each: list[int] = []
    _, rows = train(Even(), Plan(9, patience=3), tmp_path / "a.npz", print)
    assert each == [0, 0, 1, 2] and len(rows) == 4


@pytest.mark.slow
def test_the_pair_learns_and_plays_as_it_was_trained(made: dict[str, Path], tmp_path: Path) -> None:
    pytest.importorskip("optax", exc_type=ImportError)
    decisions = held(made["siamese"], "siamese")
    decisions["part"][:] = TRAIN
    study = siamese.Siamese(decisions, channels=4, layers=1, batch=16)
    weights, rows = train(study, Plan(8, rate=1e-2), tmp_path / "checkpoint.npz", print)
    assert rows[-1][1] < 0.8 * rows[0][1]
    study.write(weights, tmp_path / "pair.onnx", {})
    pair = Pair(*((tmp_path / f"siamese-{name}.onnx").read_bytes() for name in ("anchor", "board")))
    anchors, boards, real = study.batch_of(np.arange(2), 1 + np.arange(decisions["boards"].shape[1] - 1))
    net, both = Jax(weights), (("anchor", anchors), ("board", boards[1]))
    wanted = [np.asarray(study.points(net, name, study.begun(net, name, planes))) for name, planes in both]
    found = pair.distances(decisions["anchor"][1], decisions["boards"][1])
    np.testing.assert_allclose(found, np.linalg.norm(wanted[1] - wanted[0][1], axis=1), rtol=0.02, atol=0.02)
    np.testing.assert_allclose(-found, study.scores(weights, anchors, boards)[1], rtol=0.02, atol=0.02)
    assert real[1].sum() == decisions["count"][1]
    again = siamese.scored(trainer.jax.jit(study.scores), weights, decisions["anchor"][1], decisions["boards"][1])
    np.testing.assert_allclose(again, study.scores(weights, anchors, boards)[1], rtol=1e-3, atol=1e-3)


def test_the_packaged_pair_is_ranked_on_games_without_a_training(
    match: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.process_time", lambda: 0.0)  # which ticks slowly on some systems
    given = ["siamese", "--epochs", "0", "--share", "0", "--matches", f"own={match}", "--out", str(tmp_path)]
    assert program.main(given) == 0 and not list(tmp_path.rglob("*.onnx"))
    said = json.loads((tmp_path / "rbc_rank.json").read_text())
    rows = [dict(zip(said["columns"], row, strict=True)) for row in said["rows"]]
    assert {(row["game"], row["opponent"]) for row in rows} == {(4, "random"), (4, "rbc-tower")}
    for row in rows:
        assert row["ranked"] == row["uniform equal"] == min(row["size"], siamese.RANKED)
        assert row["uniform nats"] == pytest.approx(np.log(row["size"]), abs=1e-3)
        assert all(row[f"{name} better"] + row[f"{name} equal"] <= row["ranked"] for name in said["temperatures"])


def test_the_table_of_rankings_is_that_of_the_program_before_it() -> None:
    said = json.loads((Path(__file__).parents[2] / "experiments/results/rbc_rank.json").read_text())
    rows = {(row[0], row[2]): row[1:2] + row[3:] for row in siamese.table(said)["rows"]}
    # docs/notebook/learning.md, written when another program made the table of these rows
    wanted = {
        ("2 or more", "pair"): [1337, 0.227, 0.521, 0.841, 47.5, 3.540, 6866],
        ("2 or more", "uniform"): [1337, 0.059, 0.000, 0.426, 137.6, 4.539, 12247329],
        ("100 or more", "tower"): [582, 0.474, None, 0.983, 24.9, 3.145, 246091],
        ("attacker", "filter"): [106, 0.906, None, None, None, None, 1372143],
    }
    for key, figures in wanted.items():
        for found, figure in zip(rows[key], figures, strict=True):
            assert figure is None or found == pytest.approx(figure, abs=0.06 if figure > 9 else 6e-4)


@pytest.mark.slow
@pytest.mark.usefixtures("played_here", "require_stockfish")
@pytest.mark.parametrize("name", program.RECIPES)
def test_each_recipe_makes_its_file_from_games_and_says_in_it_how(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("optax", exc_type=ImportError)
    if (series := SERIES.get(f"learn_{name}")) is not None:
        least = dict([next(iter(series.matches.items()))])
        monkeypatch.setitem(SERIES, f"learn_{name}", replace(series, matches=least, budget=Limit(nodes=20)))
    monkeypatch.setattr(program, "GENERATIONS", 2)
    monkeypatch.setattr(program, "SCHEDULE", FEW)
    monkeypatch.setattr("experiments.learn.positions._TOGETHER", 40)
    given = [name, "--out", str(tmp_path), "--share", "0.001", "--epochs", "1", "--workers", "1"]
    assert program.main(given) == 0
    path = tmp_path / Path(program.RECIPES[name].file).name
    content, said = path.read_bytes(), json.loads((tmp_path / "figures.json").read_text())
    history = history_of(content) if path.suffix == ".onnx" else json.loads(bytes(read_arrays(path)["history"]))
    assert history == said and said["commit"] and len(said["data"]["sha256"]) == 64
    before = {each: each.stat().st_mtime_ns for each in tmp_path.rglob("*-*.npz")}
    assert program.main(given) == 0 and all(each.stat().st_mtime_ns == when for each, when in before.items())


@pytest.mark.soak
def test_a_player_learns_from_its_own_games_and_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    """Two generations; a game of the first is played anew to the same bytes; another schedule is refused."""
    pytest.importorskip("optax")
    selfplay.generations(tmp_path, FEW, 2, print)
    game = tmp_path / "gen-000" / "own-games-00001.npz"
    found = load([game], DSMCP.columns)
    np.testing.assert_allclose(found["targets"].sum(axis=1), 1.0, atol=1e-2)
    before = game.read_bytes()
    game.unlink()
    selfplay.generations(tmp_path, FEW, 3, print)
    assert game.read_bytes() == before and (tmp_path / "gen-002.onnx").exists()
    with pytest.raises(TrainingError, match="another schedule"):
        selfplay.generations(tmp_path, replace(FEW, seed=4), 3, print)

"""``klss.networks.residual``: answers against the definition, whatever else is in a batch; files of networks."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from klss.networks.residual import CHUNK, NetworkError, ResidualNetwork
from tests.oracles.networks import random_network

SMALL: dict[str, Any] = {"planes": 5, "channels": 6, "blocks": 2, "headsets": ("all", "top"), "kinds": 3}


def synopses(count: int, planes: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 1 << 64, (count, planes), dtype=np.uint64)


def plain(network: ResidualNetwork, synopsis: np.ndarray, policy: str, value: str) -> tuple[np.ndarray, float]:
    """The definition, cell by cell, in double precision."""
    held = {name: array.astype(np.float64) for name, array in network.arrays.items()}
    height, width = network.grid

    def convolved(inner: np.ndarray, name: str) -> np.ndarray:
        filters = held[name]
        out = np.tile(held[f"{name}_bias"], (height, width, 1))
        for y in range(height):
            for x in range(width):
                for dy in (-1, 0, 1):
                    for dx in (-1, 0, 1):
                        if 0 <= y + dy < height and 0 <= x + dx < width:
                            out[y, x] += inner[y + dy, x + dx] @ filters[dy + 1, dx + 1]
        return out

    def block(inner: np.ndarray, name: str) -> np.ndarray:
        return np.maximum(inner + convolved(np.maximum(convolved(inner, f"{name}a"), 0), f"{name}b"), 0)

    def dense(inner: np.ndarray, name: str) -> float:
        read = np.maximum(inner @ held[f"{name}_planes"] + held[f"{name}_planes_bias"], 0).reshape(-1)
        units = np.maximum(read @ held[f"{name}_dense"] + held[f"{name}_dense_bias"], 0)
        return float(units @ held[name] + held[f"{name}_bias"][0])

    bits = [[[int(word) >> (y * width + x) & 1 for word in synopsis] for x in range(width)] for y in range(height)]
    inner = np.maximum(convolved(np.array(bits, dtype=np.float64), "conv0"), 0)
    for i in range(network.blocks):
        inner = block(inner, f"block{i}")
    worth = np.tanh(dense(inner, f"{value}/value"))
    inner = block(inner, f"{policy}/policy_")
    logits = inner @ held[f"{policy}/policy"] + held[f"{policy}/policy_bias"]
    return np.append(logits.reshape(-1), dense(inner, f"{policy}/pass")), float(worth)


@pytest.mark.parametrize("grid", [(8, 8), (5, 7)])
def test_answers_are_those_of_the_definition(grid: tuple[int, int]) -> None:
    network = random_network(3, grid=grid, **SMALL)
    given = synopses(CHUNK + 2, network.planes)
    for policy, value in (("top", "all"), ("all", "top")):
        logits, values = network.infer(given, policy, value)
        assert logits.dtype == values.dtype == np.float32
        assert logits.shape == (CHUNK + 2, grid[0] * grid[1] * 3 + 1)
        for i in (0, CHUNK + 1):
            wanted, worth = plain(network, given[i], policy, value)
            np.testing.assert_allclose(logits[i], wanted, atol=1e-4)
            assert abs(values[i] - worth) < 1e-4


def test_the_usual_size_answers_as_the_definition_too() -> None:
    network = random_network(4)
    given = synopses(1, network.planes)
    logits, values = network.infer(given)
    wanted, worth = plain(network, given[0], "top", "all")
    np.testing.assert_allclose(logits[0], wanted, atol=1e-4)
    assert abs(values[0] - worth) < 1e-4
    assert logits.shape == (1, 4161)


@pytest.mark.parametrize("channels", [32, 64])
def test_an_answer_is_the_same_to_the_last_bit_whatever_else_is_asked(channels: int) -> None:
    network = random_network(5, channels=channels, blocks=1)
    given = synopses(3 * CHUNK + 3, network.planes)
    logits, values = network.infer(given)
    order = np.random.default_rng(1).permutation(len(given))
    mixed, worth = network.infer(given[order])
    assert mixed.tobytes() == logits[order].tobytes() and worth.tobytes() == values[order].tobytes()
    for i in range(len(given)):
        alone, worth = network.infer(given[i : i + 1])
        assert alone.tobytes() == logits[i].tobytes() and worth.tobytes() == values[i].tobytes()
    twice, worth = network.infer(given, threads=2)
    assert twice.tobytes() == logits.tobytes() and worth.tobytes() == values.tobytes()


def test_no_synopses_have_no_answers() -> None:
    logits, values = random_network(1, **SMALL).infer(synopses(0, 5))
    assert logits.shape == (0, 193) and values.shape == (0,)


def test_a_seed_gives_one_network() -> None:
    one, same, other = (random_network(seed, **SMALL).arrays for seed in (1, 1, 2))
    assert all(array.tobytes() == same[name].tobytes() for name, array in one.items())
    assert one["conv0"].tobytes() != other["conv0"].tobytes()


def test_what_is_no_synopsis_and_no_headset_is_refused() -> None:
    network = random_network(1, **SMALL)
    for bad in (synopses(2, 4), synopses(2, 5).astype(np.int64), synopses(2, 5)[0]):
        with pytest.raises(ValueError, match="bad synopses"):
            network.infer(bad)
    for names in (("trout", "all"), ("top", "trout")):
        with pytest.raises(ValueError, match="bad headset: got 'trout', expected one of all, top"):
            network.infer(synopses(1, 5), *names)


# ----------------------------------------------------------------------------------------------------------- the files
def test_a_file_keeps_a_network_in_half_precision(tmp_path: Path) -> None:
    network = random_network(7, headsets=("all", "top", "trout", "attacker", "random", "expect", "siamese"))
    path = tmp_path / "network.npz"
    network.write(path)
    assert path.stat().st_size < 2 << 20
    again = ResidualNetwork.load(path)
    assert again.headsets == network.headsets and again.history == {"seed": 7}
    for name, array in network.arrays.items():
        assert (again.arrays[name] == array.astype(np.float16)).all()
    whole = path.read_bytes()
    again.write(path)
    assert path.read_bytes() == whole


def written(change: Callable[[dict[str, Any], dict[str, Any]], None]) -> io.BytesIO:
    """A file, after ``change`` of its arrays and of what it says of itself."""
    held: dict[str, Any] = dict(random_network(1, **SMALL).arrays)
    about: dict[str, Any] = {"format": 1, "grid": [8, 8], "history": {}}
    change(held, about)
    out = io.BytesIO()
    np.savez(out, about=np.frombuffer(json.dumps(about).encode(), dtype=np.uint8), **held)
    out.seek(0)
    return out


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda held, about: held.pop("conv0"), "conv0 of shape"),
        (lambda held, about: held.pop("block1a"), "differ in block1a_bias"),
        (lambda held, about: held.pop("top/policy"), "differ in top/policy"),
        (lambda held, about: held.update(more=np.zeros(3)), "differ in more"),
        (lambda held, about: [held.pop(name) for name in list(held) if "/" in name], "no headset"),
        (lambda held, about: held.update({"all/value": np.zeros(5)}), "all/value of shape"),
        (lambda held, about: held["conv0_bias"].fill(np.nan), "finite"),
        (lambda held, about: held.update(conv0=np.zeros((3, 3, 0, 6))), "numbers in it"),
        (lambda held, about: held.update(conv0=np.zeros((3, 3, 5, 0))), "shape"),
        (lambda held, about: held.update(conv0=np.zeros((1 << 12, 1 << 12), dtype=np.int8)), "at most"),
        (lambda held, about: held.update(conv0=np.array(["x"])), "expected finite numbers"),
        (lambda held, about: held.update(conv0=np.array([object()], dtype=object)), "Object arrays"),
        (lambda held, about: about.update(format=2), "format 2"),
        (lambda held, about: about.update(grid=[9, 8]), "grid of 9"),
        (lambda held, about: about.update(grid=[8, 4]), "shape"),
        (lambda held, about: about.update(grid=8), "grid"),
        (lambda held, about: about.update(grid=[-1, -1]), "grid of -1"),
        (lambda held, about: about.pop("history"), "history"),
    ],
)
def test_networks_that_are_none_are_refused_in_one_line(change: Callable[..., None], said: str) -> None:
    with pytest.raises(NetworkError) as caught:
        ResidualNetwork.read(written(change))
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_files_that_are_something_else_are_one_line_with_the_path(tmp_path: Path) -> None:
    array, empty = io.BytesIO(), io.BytesIO()
    np.save(array, np.zeros(3))
    zipfile.ZipFile(empty, "w").close()
    whole = written(lambda held, about: None).getvalue()
    path = tmp_path / "network.npz"
    for content in (
        b"",
        b"dear sir,\n" * 99,
        array.getvalue(),
        empty.getvalue(),
        whole[: len(whole) // 2],
        b"0" * 5_000_000,
    ):
        path.write_bytes(content)
        with pytest.raises(NetworkError) as caught:
            ResidualNetwork.load(path)
        assert str(caught.value).startswith(f"{path}: ") and "\n" not in str(caught.value)
    with pytest.raises(NetworkError, match=r"none\.npz: expected a file that holds a network"):
        ResidualNetwork.load(tmp_path / "none.npz")

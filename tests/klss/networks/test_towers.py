"""``klss.networks.towers``: scores against plain numpy, in whatever order they are computed; files of weights."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from klss.networks.towers import LEAST_SHARE, Towers, TowersError

HEIGHT, WIDTH, PLANES, SCALARS, KINDS, OTHERS, CHANNELS, SHARES = 3, 4, 5, 2, 2, 1, 6, 2
CELLS = HEIGHT * WIDTH
FEATURES = KINDS * CELLS + OTHERS


def arrays(seed: int = 0) -> dict[str, np.ndarray]:
    """Weights of no meaning, on a grid that is no square."""
    generator = np.random.default_rng(seed)
    shapes: dict[str, tuple[int, ...]] = {
        "conv0": (3, 3, PLANES, CHANNELS), "conv0_bias": (HEIGHT, WIDTH, CHANNELS), "scalars": (SCALARS, CHANNELS),
        "conv1": (3, 3, CHANNELS, CHANNELS), "conv1_bias": (CHANNELS,), "kinds": (CHANNELS, KINDS),
        "pooled": (CHANNELS, 3), "dense": (CELLS * 3, 7), "others": (7, OTHERS), "map_bias": (FEATURES,),
        "shares": (2 * SHARES, KINDS * CELLS),
    }  # fmt: skip
    return {name: generator.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes.items()}


def observation(seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    return (
        generator.normal(size=(HEIGHT, WIDTH, PLANES)).astype(np.float32),
        generator.normal(size=SCALARS).astype(np.float32),
        generator.random((SHARES, KINDS * CELLS)).astype(np.float32),
    )


def states(count: int, seed: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Features of states: some have none, none has one twice."""
    generator = np.random.default_rng(seed)
    rows = np.stack([generator.permutation(FEATURES)[:9] for _ in range(count)]).astype(np.uint16)
    return rows, generator.integers(0, 10, count)


def plain_observation(held: dict[str, np.ndarray], planes: Any, scalars: Any, shares: Any) -> Any:
    """The definition, cell by cell, in double precision."""
    wide = {name: array.astype(np.float64) for name, array in held.items()}

    def convolved(inner: Any, filters: Any) -> Any:
        out = np.zeros((HEIGHT, WIDTH, filters.shape[3]))
        for y in range(HEIGHT):
            for x in range(WIDTH):
                for dy in (-1, 0, 1):
                    for dx in (-1, 0, 1):
                        if 0 <= y + dy < HEIGHT and 0 <= x + dx < WIDTH:
                            out[y, x] += inner[y + dy, x + dx] @ filters[dy + 1, dx + 1]
        return out

    inner = np.maximum(convolved(planes, wide["conv0"]) + wide["conv0_bias"] + scalars @ wide["scalars"], 0)
    inner = inner + np.maximum(convolved(inner, wide["conv1"]) + wide["conv1_bias"], 0)
    flat = np.concatenate([inner[y, x] @ wide["pooled"] for y in range(HEIGHT) for x in range(WIDTH)])
    dense = np.maximum(flat @ wide["dense"], 0)
    logits = wide["map_bias"].copy()
    for kind in range(KINDS):
        for cell in range(CELLS):
            at = kind * CELLS + cell
            logits[at] += inner[cell // WIDTH, cell % WIDTH] @ wide["kinds"][:, kind]
            for i in range(SHARES):
                logits[at] += shares[i, at] * wide["shares"][2 * i, at]
                logits[at] += np.log(shares[i, at] + LEAST_SHARE) * wide["shares"][2 * i + 1, at]
    logits[KINDS * CELLS :] += dense @ wide["others"]
    return logits


def scored(towers: Towers, logits: np.ndarray, rows: np.ndarray, counts: np.ndarray) -> np.ndarray:
    out = np.empty(counts.shape[0], dtype=np.float32)
    towers.score(rows, counts, logits, out)
    return out


def test_scores_are_those_of_the_definition() -> None:
    held = arrays()
    towers = Towers(held, 1.0, {})
    logits = plain_observation(held, *observation())
    found = towers.observe(*observation())
    np.testing.assert_allclose(found, logits, atol=1e-4)
    rows, counts = states(50)
    wanted = [logits[row[:count]].sum() for row, count in zip(rows, counts, strict=True)]
    np.testing.assert_allclose(scored(towers, found, rows, counts), wanted, rtol=1e-4, atol=1e-3)


def test_a_score_depends_on_no_other_state() -> None:
    towers = Towers(arrays(), 1.0, {})
    query = towers.observe(*observation())
    rows, counts = states(77)
    whole = scored(towers, query, rows, counts)
    order = np.random.default_rng(3).permutation(77)
    assert scored(towers, query, rows[order], counts[order]).tobytes() == whole[order].tobytes()
    assert b"".join(scored(towers, query, rows[i : i + 1], counts[i : i + 1]).tobytes() for i in range(77)) == (
        whole.tobytes()
    )


def test_what_is_written_is_read_in_half_precision_with_its_history(tmp_path: Path) -> None:
    towers = Towers(arrays(), 1.5, {"games": 3, "players": ["a", "b"]})
    towers.write(tmp_path / "weights.npz")
    with open(tmp_path / "weights.npz", "rb") as file:
        again = Towers.read(file)
    assert (again.temperature, again.history) == (1.5, {"games": 3, "players": ["a", "b"]})
    for name, array in towers.arrays.items():
        assert (again.arrays[name] == array.astype(np.float16)).all()


def written(change: Callable[[dict[str, Any], dict[str, Any]], None]) -> io.BytesIO:
    """A file of weights, after ``change`` of its arrays and of what it says of itself."""
    held: dict[str, Any] = dict(arrays())
    about: dict[str, Any] = {"format": 2, "temperature": 1.0, "history": {}}
    change(held, about)
    out = io.BytesIO()
    np.savez(out, about=np.frombuffer(json.dumps(about).encode(), dtype=np.uint8), **held)
    out.seek(0)
    return out


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda held, about: held.pop("dense"), "differ in dense"),
        (lambda held, about: held.update(more=np.zeros(3)), "differ in more"),
        (lambda held, about: held.update(kinds=np.zeros((CHANNELS, 5))), "shape"),
        (lambda held, about: held.update(conv0=np.zeros(4)), "expected 4 axes"),
        (lambda held, about: held["map_bias"].fill(np.nan), "finite"),
        (lambda held, about: held.update(dense=np.zeros((1 << 13, 1 << 12), dtype=np.int8)), "at most"),
        (lambda held, about: held.update(dense=np.array(["x"])), "expected finite numbers"),
        (lambda held, about: held.update(dense=np.array([object()], dtype=object)), "Object arrays"),
        (lambda held, about: about.update(format=1), "format 1"),
        (lambda held, about: about.update(temperature=0), "temperature"),
        (lambda held, about: about.update(temperature=None), "a tower"),
        (lambda held, about: about.pop("history"), "history"),
    ],
)
def test_weights_that_are_none_are_refused_in_one_line(change: Callable[..., None], said: str) -> None:
    with pytest.raises(TowersError) as caught:
        Towers.read(written(change))
    assert said in str(caught.value) and "\n" not in str(caught.value)


def test_files_that_are_something_else_are_refused_in_one_line() -> None:
    array = io.BytesIO()
    np.save(array, np.zeros(3))
    empty = io.BytesIO()
    zipfile.ZipFile(empty, "w").close()
    whole = written(lambda held, about: None).getvalue()
    for content in (b"", b"dear sir,\n" * 100, array.getvalue(), empty.getvalue(), whole[: len(whole) // 2]):
        with pytest.raises(TowersError) as caught:
            Towers.read(io.BytesIO(content))
        assert "\n" not in str(caught.value)


def test_observations_and_states_of_another_shape_are_refused() -> None:
    towers = Towers(arrays(), 1.0, {})
    planes, scalars, shares = observation()
    with pytest.raises(ValueError, match="bad observation"):
        towers.observe(planes[:2], scalars, shares)
    query = towers.observe(planes, scalars, shares)
    rows, counts = states(4)
    for bad_rows, bad_counts, said in (
        (rows[:3], counts, "bad shapes"),
        (rows, counts + 9, "bad counts"),
        (np.full_like(rows, FEATURES), np.full_like(counts, 1), "bad feature in row 0"),
    ):
        with pytest.raises(ValueError, match=said):
            scored(towers, query, bad_rows, bad_counts)

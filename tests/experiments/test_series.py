"""A series of matches: what is played, what goes on, what its results say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from experiments.series import SERIES, Pairing, Series, main
from klss.play.limits import Limit
from uci_bridge.match.documents import write_document
from uci_bridge.players import player_spec

EVERY = [(name, *pair) for name, series in SERIES.items() for pair in series.matches.items()]


@pytest.mark.parametrize(("series", "match", "pairing"), EVERY, ids=[f"{name}-{match}" for name, match, _ in EVERY])
def test_every_match_of_every_series_names_players_that_exist(series: str, match: str, pairing: Pairing) -> None:
    specs = [player_spec(SERIES[series].kit, text) for text in (pairing.a, pairing.b)]
    alike = pairing.a == pairing.b
    assert alike or vars(specs[0]) | {"name": ""} != vars(specs[1]) | {"name": ""}, match


@pytest.mark.parametrize("series", ["ablations", "parts"])
def test_matches_of_a_player_with_itself_differ_in_one_field(series: str) -> None:
    for name, pairing in SERIES[series].matches.items():
        a, b = (player_spec(SERIES[series].kit, text).fields() for text in (pairing.a, pairing.b))
        assert len([key for key in a.keys() | b.keys() if key != "name" and a.get(key) != b.get(key)]) == 1, name


@pytest.fixture
def twins(monkeypatch: pytest.MonkeyPatch) -> None:
    matches = {"twins": Pairing("random", "random"), "others": Pairing("greedy", "random", 2)}
    monkeypatch.setitem(SERIES, "shuffle", Series("two that think little", Limit(nodes=1), 4, matches))


def arguments(folder: Path, *more: str) -> list[str]:
    return ["shuffle", "--runs", str(folder / "runs"), "--results", str(folder), "--workers", "1", *more]


@pytest.mark.slow
@pytest.mark.usefixtures("played_here", "twins")
def test_a_series_goes_on_where_it_stopped_and_its_results_hold_every_game_and_match(tmp_path: Path) -> None:
    def found() -> list[dict[str, Any]]:
        return list(json.loads((tmp_path / "shuffle.json").read_text())["matches"])

    played = tmp_path / "runs" / "shuffle" / "twins-1nodes"
    assert main(arguments(tmp_path, "--only", "twins", "--games", "2")) == 0
    before = (played / "games.jsonl").read_text()
    assert main(arguments(tmp_path, "--only", "twins")) == 0
    assert (played / "games.jsonl").read_text().startswith(before)
    (match,) = found()
    assert match["commit"] and match["games"] == 4
    # The score again, from the raw rows.
    rows = [dict(zip(match["samples"]["columns"], row, strict=True)) for row in match["samples"]["rows"]]
    assert match["score"] == sum({"a": 1.0, None: 0.5, "b": 0.0}[row["winner"]] for row in rows)
    assert [row["game"] for row in rows] == [0, 1, 2, 3]
    assert {row["game"] for row in rows if row["a's color"] == "white"} == {0, 2}
    assert main(arguments(tmp_path, "--only", "others")) == 0
    assert [each["name"] for each in found()] == ["twins-1nodes", "others-1nodes"]
    assert main(arguments(tmp_path, "--only", "others", "--results", str(tmp_path / "shuffle.json"))) == 1  # no folder
    (played / "commit").write_text("another")
    assert main(arguments(tmp_path, "--only", "twins", "--games", "6")) == 1  # games of two commits are not one match


@pytest.mark.usefixtures("twins")
@pytest.mark.parametrize("given", [["--only", "twin"], ["--workers", "0"]])
def test_what_can_t_be_played_is_refused_before_anything_is(tmp_path: Path, given: list[str]) -> None:
    with pytest.raises(SystemExit) as raised:
        main(arguments(tmp_path, *given))
    assert raised.value.code == 2 and not list(tmp_path.iterdir())


def test_what_is_written_reads_back_the_same_and_what_is_not_finite_is_text(tmp_path: Path) -> None:
    shown = {"text": "a [ b\n] {c}", "rows": [[1, "x ]", None], [2.5, "[\n 1]", True]], "none": [], "nested": {"a": {}}}
    write_document(tmp_path / "d.json", shown | {"information": float("inf")})
    assert json.loads((tmp_path / "d.json").read_text()) == shown | {"information": "inf"}

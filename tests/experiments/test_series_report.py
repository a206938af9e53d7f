"""The words and pictures of a result: nothing is said that its interval does not show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from experiments.players.specs import configuration
from experiments.plots import main as plot
from experiments.report import BEGIN, END, README, load, names, reading, rendered
from experiments.series.runner import RESULTS
from uci_bridge.match.statistics import Sprt


def match_of(low: float, middle: float, high: float, b: str = "klss2021,reach=false", **rest: Any) -> dict[str, Any]:
    budget = {"time_s": 0.1, "nodes": None, "clock": None}
    counts = {"games": 100, "score": middle, "wins": int(middle), "draws": 0, "losses": 100 - int(middle)}
    usual = {
        "name": b.removeprefix("klss2021,"), "a": "klss2021,threads=1", "b": f"{b},threads=1",
        "budgets": {"a": budget, "b": budget}, "percent": [low, middle, high], "elo": [-10.0, 1.0, 20.0],
        "games_planned": 100, "seconds": 1200.0, "sessions": [], "by_color": {"white": counts, "black": counts},
    }  # fmt: skip
    return usual | counts | rest


def document(experiment: str, *matches: dict[str, Any]) -> dict[str, Any]:
    head = {"experiment": experiment, "created": "2026-01-01", "commit": "0123456789abcdef", "versions": {"klss": "1"}}
    return head | {"games": sum(match["games"] for match in matches), "matches": list(matches)}


def keep(folder: Path, found: dict[str, Any]) -> None:
    (folder / f"{found['experiment']}.json").write_text(json.dumps(found))


@pytest.mark.parametrize(
    "percent, words",
    [
        ((50.0, 60.0, 70.0), "no difference seen"),
        ((30.0, 40.0, 50.0), "no difference seen"),
        ((49.9, 99.0, 100.0), "no difference seen"),
        ((50.1, 60.0, 70.0), "`klss2021,reach=false` is worse"),
        ((30.0, 40.0, 49.9), "`klss2021,reach=false` is better"),
    ],
)
def test_a_difference_is_told_only_where_the_interval_leaves_out_50(percent: Any, words: str) -> None:
    assert reading(match_of(*percent)).startswith(f"{words} (interval {percent[0]:.1f} to {percent[2]:.1f} %")


def test_the_paragraph_sorts_the_ablations_by_their_intervals(tmp_path: Path) -> None:
    matches = (match_of(55.0, 60.0, 65.0), match_of(40.0, 50.0, 60.0, "klss2021,particles=50"))
    keep(tmp_path, document("ablations", *matches))
    text = " ".join(rendered(tmp_path).split())
    assert "Worse than `klss2021`: `klss2021,reach=false` (interval 55.0 to 65.0 %, 100 games)." in text
    assert "No difference seen: `klss2021,particles=50` (interval 40.0 to 60.0 %, 100 games)." in text
    assert "Better:" not in text
    assert "of 2: 1 worse, 0 better, 1 without a difference seen; 100 games each" in text
    # 1 - 0.95²
    assert "at least one of 2 such intervals would still miss 50 % in 10 % of all such tables" in text


def test_a_player_that_had_a_name_of_its_own_is_told_by_the_field_that_the_results_hold() -> None:
    found = load(RESULTS, "ablations")
    assert found is not None
    for match in found["matches"]:
        fields = configuration(names(match)[1]).fields()
        assert {key: fields[key] for key in match["changed"]["b"] if key != "threads"} == {
            key: value for key, value in match["changed"]["b"].items() if key != "threads"
        }
    assert {match["b"] for match in found["matches"]} > {"klss2021-noreach,threads=1", "klss2021-L50,threads=1"}


def test_players_who_differ_in_their_threads_alone_are_told_with_them(tmp_path: Path) -> None:
    keep(tmp_path, document("parts", match_of(51.0, 60.0, 69.0, "kluss", a="kluss,threads=2")))
    text = " ".join(rendered(tmp_path).split())
    assert "`kluss,threads=2` v `kluss,threads=1`" in text and "`kluss,threads=1` is worse" in text


def test_all_matches_of_a_belief_are_one_sequential_test_whatever_she_was_called(tmp_path: Path) -> None:
    def played(name: str, belief: str, against: str, **rest: Any) -> dict[str, Any]:
        sides = {"a": "kluss,sample_by_weight=true", "b": against}
        said = {side: configuration(text).fields() | {"threads": 1} for side, text in sides.items()}
        said["a"]["belief"] = belief
        return match_of(47.8, 54.5, 61.2, against, a=name, configurations=said, **rest)

    matches = [
        played("kluss,threads=1", "filter", "kluss-value", pairs=[7, 0, 26, 0, 17], score=60.0),
        played("kluss-filter,threads=1", "filter", "kluss-value", pairs=[14, 3, 48, 1, 23], games=178, score=97.0),
        played("kluss-both,threads=1", "both", "kluss-contrary", pairs=[0, 0, 1, 0, 49]),
    ]
    keep(tmp_path, document("belief_games", *[match | {"seed": seed} for seed, match in enumerate(matches)]))
    llr = Sprt(0.0, 30.0).state([21, 3, 74, 1, 40]).llr
    # 157 of 278, and 1.96 · .3288 / √139, the standard error of the pairs' mean
    assert f"| `kluss` | 278 | 56.5 % | 51.0 to 61.9 % | {llr:.2f} | no |" in rendered(tmp_path)
    assert "| `kluss,belief=both` |" not in rendered(tmp_path), "a match against another is not part of the test"


def test_the_papers_own_match_says_where_the_papers_score_lies(tmp_path: Path) -> None:
    papers = {"name": "klss2021-baseline-0.5s"}
    keep(tmp_path, document("head_to_head", match_of(47.0, 54.9, 62.0, "baseline", **papers)))
    text = " ".join(rendered(tmp_path).split())
    assert "59.5 % lies inside the interval" in text
    keep(tmp_path, document("head_to_head", match_of(56.0, 58.0, 59.0, "baseline", **papers)))
    text = " ".join(rendered(tmp_path).split())
    assert "59.5 % lies outside the interval" in text


def test_a_match_that_is_not_finished_says_so(tmp_path: Path) -> None:
    keep(tmp_path, document("head_to_head", match_of(40.0, 50.0, 60.0, "baseline", games_planned=200)))
    assert "100 of 200" in rendered(tmp_path)


def test_experiments_without_a_result_say_so(tmp_path: Path) -> None:
    lines = rendered(tmp_path).splitlines()[2:]
    assert len(lines) >= 8 and all(line.endswith("| not run yet |") for line in lines)


def test_readme_shows_what_the_results_say() -> None:
    _, begin, rest = README.read_text(encoding="utf-8").partition(BEGIN)
    shown, end, _ = rest.partition(END)
    assert begin and end
    assert shown.strip() == rendered(README.parent / "results", README.parent / "plots").strip(), (
        "run python -m experiments.report"
    )


def test_plots_are_drawn_from_the_results_that_are_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    keep(tmp_path, document("opponents", match_of(88.0, 93.0, 97.0, "greedy"), match_of(99.0, 100.0, 100.0, "random")))
    call = ["--results", str(tmp_path), "--plots", str(tmp_path / "plots")]
    assert plot(call) == 0
    assert "ablations: no ablations.json, left out" in capsys.readouterr().err
    (path,) = (tmp_path / "plots").iterdir()
    first = path.read_bytes()
    assert path.name == "opponents.svg" and first.startswith(b"<?xml")
    assert plot(call) == 0 and path.read_bytes() == first

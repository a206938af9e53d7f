"""klss solve, klss exploit and klss tables: values, files, limits of memory and time."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspiel")

import klss
from klss.support.memory import resident_bytes
from klss.theory import first_order
from klss_app.cli.main import main

ROOT = Path(__file__).resolve().parents[2]


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """The document of a command that is done."""
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def python(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What a process of its own says."""
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)


def test_exact_answers_are_fractions_in_the_report_and_in_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "kuhn.json"
    report = output(capsys, "solve", "kuhn_poker", "--exact", "--out", str(path))
    assert report["exact"]["value"] == "-1/18" and report["exploitability"] == 0.0
    assert json.loads(path.read_text())["players"] == report["exact"]["players"]
    assert report["exact"]["players"][1]["infosets"]["1b"] == {"Pass": "2/3", "Bet": "1/3"}
    # Such a file is a policy, too.
    exploited = output(capsys, "exploit", "kuhn_poker", "--policy", str(path))
    assert all(abs(row["gain"]) < 1e-9 for row in exploited["players"])


@pytest.mark.parametrize(("player", "key"), [("0", "1"), ("1", "1b")])
def test_solve_again_below_an_infoset(player: str, key: str, capsys: pytest.CaptureFixture[str]) -> None:
    report = output(capsys, "solve", "kuhn_poker", "--subgame", key, "--player", player)
    assert report["subgame"]["margin"] >= -1e-9
    assert report["subgame"]["player"] == int(player)


def test_tables_1_all_gives_every_column_that_applies(capsys: pytest.CaptureFixture[str]) -> None:
    rows = output(capsys, "tables", "1", "--game", "kuhn", "--all")
    got = {(row["nesting"], row["order"]) for row in rows}
    assert got == {(n, k) for n in ("every", "update", "played") for k in (1, 3, 5, "inf")} | {("allocated", 1)}


def test_the_table_of_searches_goes_on_on_a_cluster(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], cluster: str
) -> None:
    path = tmp_path / "rows.json"
    command = ["tables", "--search", "kuhn_poker", "--out", str(path), "--nodes"]
    first = output(capsys, *command, "20", "--by", "kluss")
    rows = output(capsys, *command, "20,40", "--by", "kluss", "random", "uniform", "--scheduler", cluster)
    # The rows that were there have the same times: nothing was computed again.
    assert [row for row in rows if row["method"] == "kluss" and row["nodes"] == 20] == first
    assert len(rows) == 2 * (2 * 2 + 2 + 1)
    assert len(json.loads(path.read_text())["rows"]) == len(rows)
    # A player that moves at random, asked at every infoset, is the uniform strategy.
    random, uniform = ({(row["player"], row["after"]) for row in rows if row["method"] == name}
                       for name in ("random", "uniform"))  # fmt: skip
    assert random == uniform
    usual = output(capsys, "tables", "--search", "kuhn_poker", "--by", "random")
    assert [row["nodes"] for row in usual] == 2 * [100, 1000, 10_000]
    others = json.dumps(json.loads(path.read_text()) | {"rows": [{"score": 1}]})  # of another command
    for text in ("{}", others):
        path.write_text(text)
        assert main([*command, "20"]) == 2
        assert "--out" in capsys.readouterr().err


def test_without_openspiel_one_line_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [name for name in sys.modules if name.startswith("klss.openspiel")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    assert main(["solve", "kuhn_poker"]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1 and "OpenSpiel" in captured.err


_PEAK = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (12_288_000_000, 12_288_000_000))
from klss.openspiel import enumeration
from klss_app.cli.main import main
enumeration._WALKS_AT = None  # no estimate of the nodes refuses them before the memory does
many = "10000000000"
games = ("chess", "capture_the_flag", "dark_chess")
codes = [main(["solve", game, "--memory-mb", "400", "--max-nodes", many]) for game in games]
peak = next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM:"))
print(*codes, peak // 1000)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the process's peak is read from Linux's /proc")
@pytest.mark.slow
def test_games_too_large_for_the_memory_are_refused_in_one_line_each_and_the_peak_stays_near_the_limit() -> None:
    done = python(_PEAK)
    lines = done.stderr.splitlines()
    assert len(lines) == 3 and all("expected 400 MB together" in line for line in lines), done.stderr
    *codes, peak = map(int, done.stdout.split())
    assert codes == [2, 2, 2] and peak < 700


def test_a_run_that_is_told_to_end_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    iterate = first_order.regrets.iterate

    def stopped(times: int, *rest: Any) -> None:
        iterate(times, *rest)
        if rest[0][0] > 1000:
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr("klss_app.cli.solve._warm_up", lambda name: None)
    arguments = ("solve", "leduc_poker", "--method", "pcfr+", "--resume", str(tmp_path / "run.npz"), "--gap")
    with monkeypatch.context() as patch:
        patch.setattr(first_order.regrets, "iterate", stopped)
        assert main([*arguments, "1e-9"]) == 1 and capsys.readouterr().err == "klss solve: interrupted\n"
    assert output(capsys, *arguments, "100")["iterations"] > 1000


_COMPILED = """
import contextlib, gc, io, sys, time
from numba.core.dispatcher import Dispatcher
from klss_app.cli import solve
def signatures():
    found = [each for each in gc.get_objects() if isinstance(each, Dispatcher)]
    return {(each.py_func.__qualname__, str(one)) for each in found for one in each.overloads}
warm_up, before = solve._warm_up, set()
def warmed(*given):
    warm_up(*given)
    before.update(signatures())
solve._warm_up = warmed
with contextlib.redirect_stdout(io.StringIO()):
    solve.run(sys.argv[1:])
print(*sorted(signatures() - before))
"""


@pytest.mark.slow
@pytest.mark.parametrize(("source", "method"), [("leduc_poker", "pcfr+"), ("game.efg", "lp")])
def test_nothing_is_compiled_in_the_seconds_that_are_reported(source: str, method: str, tmp_path: Path) -> None:
    assert main(["solve", "kuhn_poker", "--export", str(tmp_path / "game.efg")]) == 0
    game = str(tmp_path / source) if source.endswith(".efg") else source
    done = python(_COMPILED, game, "--method", method)
    assert done.stdout == "\n", done.stdout + done.stderr


# ---------------------------------------------------------------- klss exploit, and files of klss solve
def policy(path: Path, first: dict[str, Any], second: dict[str, Any]) -> str:
    path.write_text(json.dumps({"players": [{"infosets": first}, {"infosets": second}]}))
    return str(path)


def test_a_tree_too_large_to_list_has_a_bound_that_the_best_response_keeps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("exploit", "kuhn_poker", "--policy", policy(tmp_path / "p.json", {}, {}))
    exact = output(capsys, *arguments)["players"]
    searched = ("--max-nodes", "20", "--games", "80", "--nodes", "100", "--seed", "2")
    bounds = output(capsys, *arguments, *searched)["players"]
    for row, bound in zip(exact, bounds, strict=True):
        assert row.keys() == bound.keys() and row["games"] is row["interval"] is None
        assert bound["games"] == 80
        low, high = bound["interval"]
        assert low < bound["worst_case"] < high and row["worst_case"] < high
    assert main([*arguments, *searched]) == 0
    assert "80 games of a searching responder" in capsys.readouterr().out


def test_a_game_goes_out_to_a_file_and_in_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "KUHN.EFG"
    for report in (output(capsys, "solve", "kuhn_poker", "--export", str(file)), output(capsys, "solve", str(file))):
        assert report["value"] == pytest.approx(-1 / 18) and report["exploitability"] < 1e-9  # Kuhn 1950
        assert (report["nodes"], report["infosets"], report["sequences"]) == (58, [6, 6], [13, 13])


def test_what_payoffs_sum_to_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given, file = tmp_path / "pennies.nfg", str(tmp_path / "pennies.efg")
    given.write_text('NFG 1 R "" { "a" "b" } { 2 2 } 1 0 0 1 0 1 1 0')  # 1 for the winner
    reports = output(capsys, "solve", str(given), "--export", file), output(capsys, "solve", file)
    assert [each["about"] for each in reports] == 2 * ["payoffs sum to 1"]
    exploited = output(capsys, "exploit", file, "--policy", "uniform")["players"]
    assert [(each["value"], each["worst_case"]) for each in exploited] == 2 * [pytest.approx((0.5, 0.5))]


def test_a_long_run_goes_on_from_its_file_and_a_disk_that_is_full_at_the_end_loses_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = str(tmp_path / "run.npz")
    arguments = ("solve", "kuhn_poker", "--method", "pcfr+", "--resume", file)
    first = output(capsys, *arguments, "--gap", "1e-2")
    second = output(capsys, *arguments, "--gap", "1e-4")
    assert second["iterations"] > first["iterations"] > 0 and second["exploitability"] <= 1e-4
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert main([*arguments, "--gap", "1e-6", "--out", "/dev/full"]) == 1
    assert (told := capsys.readouterr().err).count("\n") == 1 and "No space left" in told
    (kept,) = tmp_path.glob("klss-*/full")
    assert klss.load(kept).value == pytest.approx(-1 / 18, abs=1e-6)
    assert main([*arguments, "--gap", "1e-6", "--out", str(again := tmp_path / "kuhn.json")]) == 0
    assert again.read_text() == kept.read_text(), "no iteration was added"


def test_a_policy_is_weighed_before_it_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = policy(tmp_path / "p.json", {str(k): {"Pass": 1} for k in range(100_000)}, {})
    most = str(resident_bytes() // 1_000_000 + 20)
    assert main(["exploit", "kuhn_poker", "--policy", given, "--memory-mb", most]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "p.json" in said and "--memory-mb" in said

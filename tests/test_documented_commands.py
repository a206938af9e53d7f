"""Every command that a page tells is run here in small, and every experiment's: a page that tells another one fails.

A *documented command* is a line of a code block, or a code span with arguments, that calls ``klss``, an experiment,
``make``, pip or a program of reconchess. The tables below say what stands for each: the small form that is run here, or
where else it is tested. Scripts of tutorials are run as they stand (``tests/klss/test_documents.py``).
"""

from __future__ import annotations

import json
import re
import runpy
import sys
from pathlib import Path

import pytest

from klss_app.bench import suite, tracker
from klss_app.cli.bench import BENCHES
from klss_app.cli.main import COMMANDS, main
from tests.klss.test_documents import SCRIPTED

ROOT = Path(__file__).resolve().parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "experiments" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
]

FEW_MEN = "4k3/pppp4/8/8/8/8/PPPP4/4K3 w - - 0 1"
"""A start from which position sets stay small and a game may be short (23 plies with seed 9): all of it is analysed."""

IN_SMALL: dict[str, str] = {
    "klss play --white kluss --black klss2021 --nodes 2000 --seed 7": (
        "klss play --white random,cap=500 --black random,cap=500 --nodes 2000 --seed 9 --pgn game.pgn "
        f"--fen '{FEW_MEN}'"
    ),
    'klss track --moves "e4 e5 Nf3"': "klss track --moves 'e4 e5 Nf3'",
    "klss track --stream": "klss track --moves 'e4 e5 Nf3' --stream",
    "klss match A B --games 20 --time 1 --out DIR": (
        "klss match random,cap=500 greedy,cap=500 --games 2 --seed 2 --check-truth --out match"
    ),
    'klss match kluss "cmd:env PYTHONPATH=../klss-before python -P -m klss engine --configuration kluss" '
    "--time 0.2 --games 400 --openings 4": (
        f"klss match random,cap=500 'cmd:env PYTHONPATH={ROOT} {sys.executable} -P -m klss engine "
        "--configuration random,cap=500' --games 2 --seed 2 --openings 4 --out before"
    ),
    "klss rbc play --white A --black B": (
        "klss rbc play --white rbc-attacker --black rbc-random --nodes 5 --seed 1 --history blind.json"
    ),
    "klss rbc match A B --games 20 --time 1 --out DIR": (
        "klss rbc match rbc-attacker rbc-random --games 2 --nodes 5 --seed 2 --check-truth --out blind"
    ),
    "klss rbc match rbc-siamese rbc-expect --nodes 1000 --sprt 0,30": (
        "klss rbc match rbc-attacker rbc-random --games 2 --nodes 5 --seed 2 --sprt 0,30 --out tested"
    ),
    "klss rbc track GAME.json": "klss rbc track blind/game-00000.json --cap 5000",
    "klss rbc analyse GAME.json --turn 20": "klss rbc analyse blind/game-00000.json --turn 2 --nodes 50",
    "klss rbc play --black dsmcp": (
        "klss rbc play --white dsmcp,particles=4 --black rbc-random --nodes 6 --seed 2 --history planned.json "
        "--fen '4k3/8/8/8/8/8/4R3/4K3 w - - 0 1'"
    ),
    "klss rbc match dsmcp rbc-expect --nodes 300 --games 20": (
        "klss rbc match dsmcp,particles=4,cap=4000 rbc-attacker --games 2 --nodes 6 --seed 2 --check-truth "
        "--out planned"
    ),
    "klss rbc analyse GAME.json": (
        "klss rbc analyse blind/game-00000.json --nodes 50 --configuration rbc-expect,cap=1000"
    ),
    "klss rbc analyse GAME.json --html game.html": (
        "klss rbc analyse blind/game-00000.json --nodes 50 --configuration rbc-expect,cap=1000 --html blind.html"
    ),
    "python -m experiments.series rbc_games": (
        "experiments.series rbc_games --games 2 --nodes 20 --only expect --workers 1 --runs runs --results results"
    ),
    "python -m experiments.series rbc_planning": (
        "experiments.series rbc_planning --games 2 --nodes 20 --only dsmcp-tree --workers 1 --runs runs "
        "--results results"
    ),
    'klss openings "d4 d5"': "klss openings 'd4 d5'",
    "klss openings --plies 4 --least 20": "klss openings --plies 4 --least 20",
    "python -m experiments.openings --people FILE": (
        "experiments.openings --people game.pgn --nodes 10 --searches 1 --plies 2 --out book.json"
    ),
    "klss games games.pgn": "klss games game.pgn",
    "klss games games.pgn --json": "klss games game.pgn --json",
    "klss puzzles --theme save --number 5": "klss puzzles --theme save --number 5",
    "klss analyse game.pgn": "klss analyse game.pgn --nodes 20",
    "klss analyse game.pgn --time 0.2": "klss analyse game.pgn --time 0.01",
    "klss analyse games.pgn --all --player NAME --out games.jsonl": (
        "klss analyse game.pgn --all --player random,cap=500 --nodes 20 --out games.jsonl"
    ),
    "klss analyse games.pgn --all --html games.html": "klss analyse game.pgn --all --nodes 20 --html games.html",
    "klss analyse GAME.pgn --pgn FILE": "klss analyse game.pgn --nodes 20 --pgn analysed.pgn",
    "klss analyse game.pgn --pgn analysed.pgn": "klss analyse game.pgn --nodes 20 --pgn analysed.pgn",
    "klss analyse game.pgn --html game.html": "klss analyse game.pgn --nodes 20 --html game.html",
    "klss analyse GAME.pgn --ply 20 --color white": "klss analyse game.pgn --ply 4 --color white --nodes 20",
    "klss analyse game.pgn --ply 20 --color white": "klss analyse game.pgn --ply 4 --color white --nodes 20",
    "klss analyse game.pgn --ply 20 --color white --belief uniform": (
        "klss analyse game.pgn --ply 4 --color white --nodes 20 --belief uniform"
    ),
    "klss match kluss ismcts --game openspiel:leduc_poker": (
        "klss match kluss ismcts --game openspiel:kuhn_poker --games 2 --nodes 20 --out cards"
    ),
    "klss solve kuhn_poker --out kuhn.json": "klss solve kuhn_poker --out kuhn.json",
    "klss solve leduc_poker": "klss solve leduc_poker",
    'klss solve "liars_dice(dice_sides=6)" --method pcfr+ --gap 1e-3': (
        "klss solve 'liars_dice(dice_sides=2)' --method pcfr+ --gap 1e-3"
    ),
    'klss solve "liars_dice(dice_sides=6)" --method auto --seconds 60 --resume dice.npz': (
        "klss solve 'liars_dice(dice_sides=2)' --method auto --seconds 60 --resume dice.npz"
    ),
    'klss solve "dark_hex(num_rows=2,num_cols=3)" --recall history': (
        "klss solve 'liars_dice_ir(dice_sides=3)' --recall history"
    ),
    "klss solve kuhn_poker --export kuhn.efg": "klss solve kuhn_poker --export kuhn.efg",
    "klss solve kuhn.efg --out kuhn.ne": "klss solve kuhn.efg --out kuhn.ne",
    "klss exploit phantom_ttt --policy uniform --player 0 --games 200 --seed 1": (
        "klss exploit phantom_ttt --policy uniform --player 0 --games 2 --nodes 20 --seed 1 --max-nodes 1000"
    ),
    "klss exploit leduc_poker --policy kluss --nodes 100 --games 200": (
        "klss exploit leduc_poker --policy kluss --nodes 20 --games 2"
    ),
    "klss exploit kuhn_poker --policy kuhn.json --player 0": "klss exploit kuhn_poker --policy kuhn.json --player 0",
    "klss exploit kuhn_poker --policy kuhn.json": "klss exploit kuhn_poker --policy kuhn.json",
    "klss solve kuhn_poker --refine sequential --out kuhn.json": (
        "klss solve kuhn_poker --refine sequential --out kuhn.json"
    ),
    "klss solve kuhn_poker --lock kuhn.json": "klss solve kuhn_poker --lock kuhn.json",
    "klss solve kuhn_poker --exact --out kuhn.json": "klss solve kuhn_poker --exact --out exact.json",
    "klss solve GAME": "klss solve kuhn_poker",
    "klss tables 1": "klss tables 1 --game kuhn",
    "klss tables 1 --method NAME --gadget NAME": "klss tables 1 --game kuhn --method 2-kluss --gadget resolve",
    "klss tables 2": "klss tables 2 --game kuhn",
    "klss bench tracker": "klss bench tracker --repetitions 1",
    "klss bench search": "klss bench search --time 0.05 --repetitions 1",
    "klss bench equilibrium": "klss bench equilibrium --nodes 500 --repetitions 1",
    "klss bench suite": "klss bench suite --nodes 50 --repetitions 1",
    "python -m experiments.series head_to_head --results experiments/results": (
        "experiments.series head_to_head --players random,cap=500 greedy,cap=500 --games 2 --workers 1 --runs runs "
        "--results results"
    ),
    "python -m experiments.series head_to_head --players kluss klss2021-paper --results experiments/results": (
        "experiments.series head_to_head --players random,cap=500 random,cap=501 --games 2 --workers 1 --runs runs "
        "--results results"
    ),
    "python -m experiments.series opponents --results experiments/results": (
        "experiments.series opponents --players random,cap=500 greedy,cap=500 --games 2 --workers 1 --runs runs "
        "--results results"
    ),
    "python -m experiments.series --help": "experiments.series --help",
    "klss rbc match rbc-siamese rbc-siamese --nodes 10000 --games 500 --out OWN": (
        "klss rbc match rbc-attacker rbc-attacker --games 1 --nodes 5 --seed 2 --out own"
    ),
    "klss rbc match rbc-siamese rbc-random --nodes 2000 --games 150 --out RANDOM": (
        "klss rbc match rbc-attacker rbc-random --games 1 --nodes 5 --seed 3 --out random"
    ),
    "klss match kluss klss2021 --time 0.1 --games 100 --openings 4 --out FOG": (
        "klss match greedy random --nodes 1 --games 1 --seed 4 --out fog"
    ),
    "python -m experiments.learn data fog klss2021=FOG people=FILE.pgn --out DATA": (
        "experiments.learn data fog klss2021=fog people=fog/game-00000.pgn --out fogged"
    ),
    "python -m experiments.learn data rbc own=OWN random=RANDOM --out DATA": (
        "experiments.learn data rbc own=own random=random --out weighed"
    ),
    "python -m experiments.convergence": (
        "experiments.convergence --games kuhn_poker --nodes 10 --workers 1 --results results"
    ),
    "python -m experiments.series belief": (
        "experiments.series belief --players greedy,cap=500 random,cap=500 --games 10 --nodes 1 --workers 1 "
        "--runs runs --results results"
    ),
    "python -m experiments.learn data policy belief=MATCH --out DATA": (
        "experiments.learn data policy belief=runs/belief/greedy,cap=500-random,cap=500-1nodes --out chosen"
    ),
    "python -m experiments.learn train policy DATA --out RUN --epochs 10": (
        "experiments.learn train policy chosen --out policy --epochs 1"
    ),
    "python -m experiments.series belief_games": (
        "experiments.series belief_games --players random,cap=500 greedy,cap=500 --games 2 --workers 1 --runs runs "
        "--results results"
    ),
    "python -m experiments.series imitated": (
        "experiments.series imitated --players rbc-random rbc-attacker --games 1 --workers 1 --runs runs "
        "--results results"
    ),
    "python -m experiments.learn data dsmcp imitated=MATCH --out DATA": (
        "experiments.learn data dsmcp imitated=own --out planned"
    ),
}
"""Run one after the other, in this order, in one empty folder: later ones read what earlier ones wrote."""

ELSEWHERE: dict[str, str] = {
    "klss match kluss klss2021 --nodes 1500 --games 160 --openings 4 --seed 11 --out games": (
        "tests/klss_app/test_match.py"
    ),
    "klss match kluss level-6 --nodes 1500 --games 200 --openings 6 --seed 12 --out more": (
        "tests/klss_app/test_match.py"
    ),
    **dict.fromkeys(
        (
            "python -m experiments.learn train fog DATA --out RUN --channels 64",
            "python -m experiments.learn train fog --channels 64",
            "python -m experiments.learn train rbc DATA --out RUN",
            "python -m experiments.learn train rbc",
            "python -m experiments.learn train dsmcp DATA --out RUN",
            "python -m experiments.learn train dsmcp",
            "python -m experiments.learn train policy --epochs 10",
            "python -m experiments.learn train evaluation --epochs 6 --seed 1",
            "python -m experiments.learn selfplay --out DIR",
            "python -m experiments.learn selfplay",
        ),
        "tests/experiments/test_learn.py",
    ),
    "python -m experiments.learn positions played": "experiments/learn/positions.py",
    "klss play --game openspiel:leduc_poker": "tests/uci_bridge/test_openspiel_kit.py",
    "klss engine --game openspiel:GAME": "tests/uci_bridge/test_openspiel_kit.py",
    "klss rbc --help": "tests/klss_app/test_help.py",
    "klss rbc play": "tests/klss_app/test_play.py",
    "klss rbc match": "tests/klss_app/test_match.py",
    "klss rbc engine": "tests/klss_app/test_match.py",
    "klss bot --config bot.yml": "tests/uci_bridge/test_bot.py",
    "klss bot --config bot.yml --check": "tests/uci_bridge/test_bot.py",
    "klss bot … 2> bot.log": "tests/uci_bridge/test_bot.py",
    "klss engine --configuration random": "tests/uci_bridge/test_engine_program.py",
    'klss play --black "cmd:python other_engine.py"': "tests/klss_app/test_foreign.py",
    'klss match klss2021 "cmd:python other_engine.py" --games 20': "tests/klss_app/test_foreign.py",
    "klss board month.pgn --game 7": "tests/klss_app/test_games.py",
    "klss analyse game.pgn --ply 20 --color white --once-over": "tests/klss_app/test_analyse.py",
    "klss engine --configuration kluss --ponder": "tests/uci_bridge/test_engine_program.py",
    "klss bench evaluator": "tests/experiments/test_bench.py",
    "python -m klss_app.bench.signature --write": "tests/experiments/test_bench.py",
    "klss match A B --scheduler tls://HOST:8786 --out DIR": "tests/klss_app/test_match.py",
    "klss match --workers W": "tests/klss_app/test_match.py",
    "klss match --scheduler": "tests/klss_app/test_killed.py",
    "klss match --check-truth": "tests/klss_app/test_match.py",
    "klss match A B --game MODULE:NAME": "tests/table/test_kit.py",
    "klss play --seed": "tests/klss_app/test_play.py",
    'make test ARGS="tests/klss -x"': ".ci/run",
    'make browser ARGS="-k slow_line -rP"': "tests/klss_app/web/test_loading.py",
    "klss play --black NAME": "tests/klss_app/test_play.py",
    "make signature": "tests/experiments/test_bench.py",
    "python -m klss": "tests/klss_app/test_bad_input.py",
    "klss play --resume": "tests/klss_app/test_resume.py",
    "klss play --resume klss-games/2026-11-22T072741Z.pgn --time 2": "tests/klss_app/test_resume.py",
    "klss board --black human --clock 180+2": "tests/klss_app/web/test_games.py",
    "klss board --white human --black human": "tests/klss_app/web/test_program.py",
    "klss analyse GAME.pgn": "tests/klss_app/test_analyse.py",
    "klss board --resume": "tests/klss_app/web/test_program.py",
    "klss rbc play --resume": "tests/klss_app/test_play.py",
    "klss rbc board --resume": "tests/klss_app/web/test_rbc_board.py",
    "klss board game.pgn": "tests/klss_app/web/test_program.py",
    "klss board --game rbc": "tests/klss_app/web/test_rbc_board.py",
    "klss board game.json --game rbc": "tests/klss_app/web/test_rbc_board.py",
    "klss play --black level-3": "tests/darkchess/fog/test_configuration.py",
    "klss play --book": "tests/klss_app/test_openings.py",
    "klss match kluss,book=true kluss --time 0.1 --games 200": "tests/darkchess/fog/test_book.py",
    "make board": "tests/klss_app/web/test_program.py",
    "rc-bot-match uci_bridge.reconchess.klss_bot reconchess.bots.random_bot": "tests/uci_bridge/test_reconchess.py",
    "rc-bot-match uci_bridge/reconchess/klss_bot.py reconchess.bots.trout_bot": "tests/uci_bridge/test_reconchess.py",
    "rc-play uci_bridge.reconchess.klss_bot": "tests/uci_bridge/test_reconchess.py",
    "rc-connect uci_bridge.reconchess.klss_bot --max-concurrent-games 1": "tests/uci_bridge/test_reconchess.py",
    "make play": "tests/test_makefile.py",
    "make bench": "tests/test_documented_commands.py",
    "make test": ".ci/run",
    "make check": ".ci/run",
    "make docs": ".ci/run",
    "make release-check": ".ci/release_check",
    "klss --version --json": "tests/klss_app/test_help.py",
    "make newest": ".ci/run",
    "make oldest": ".ci/contracts",
}
"""Tested there, as a program or against a server, or run there; the commands of setting up are .ci/run's."""

SET_UP = re.compile(r"(python3? -m venv|(\.venv/bin/)?pip|git|cd|cp|make soak|\.ci/run|mkdir)\b|\(umask")


def documented() -> dict[str, set[str]]:
    """Each documented command, without comments and continuation, and the pages that tell it."""
    found: dict[str, set[str]] = {}
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        fenced = re.findall(r"^```(\w*)[^\n]*\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
        run_here = ("",) if f"docs/{page.name}" in SCRIPTED else ("", "sh")
        blocks = [block for language, block in fenced if language in run_here]
        prose = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
        lines = [line for block in blocks for line in block.splitlines()]
        lines += re.findall(r"^    (.*)$", prose, re.MULTILINE)
        spans = [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", prose)]
        for line in [*lines, *(span for span in spans if " " in span)]:
            for command in re.split(r" && ", re.sub(r"\s+# .*", "", line)):
                word = command.strip().removeprefix("$ ").removeprefix(".venv/bin/")
                if re.match(r"(klss|make|python3? -m|pip|rc-[a-z-]+) ", word):
                    found.setdefault(word, set()).add(page.name)
    return found


def test_every_documented_command_is_run_in_small_or_tested_elsewhere() -> None:
    shown = {command: pages for command, pages in documented().items() if not SET_UP.match(command)}
    names = {
        command
        for command in shown
        if re.fullmatch(r"klss (\w+|COMMAND --help)|python -m experiments.(…|NAME)", command)
    }
    assert {name.split()[1] for name in names} <= {*COMMANDS, "COMMAND", "-m"}
    known = {**IN_SMALL, **ELSEWHERE}
    new = {command: pages for command, pages in shown.items() if command not in {*known, *names}}
    assert not new, "say in this file what stands for them"
    assert not {command for command in known if command not in shown}, "no page tells these"
    for place in ELSEWHERE.values():
        assert (ROOT / place).exists(), place


def test_every_experiment_that_can_be_called_is_run_here_or_elsewhere() -> None:
    programs = {
        f"experiments.{path.stem}"
        for path in (ROOT / "experiments").glob("*.py")
        if '__name__ == "__main__"' in path.read_text(encoding="utf-8")
    }
    programs |= {f"experiments.{path.parent.name}" for path in (ROOT / "experiments").glob("*/__main__.py")}
    run = {form.split()[0] for form in IN_SMALL.values()} - {"klss"}
    run |= {command.split()[2] for command in ELSEWHERE if command.startswith("python -m experiments.")}
    assert run == programs


def test_make_bench_runs_every_bench() -> None:
    (loop,) = re.findall(r"for part in ([\w ]+); do", (ROOT / "Makefile").read_text(encoding="utf-8"))
    assert loop.split() == list(BENCHES)


def test_nothing_tells_to_install_klss_by_its_name_from_an_index() -> None:
    """The name is not ours there, and anybody could take it."""
    sources = [
        path
        for package in ("klss", "darkchess", "uci_bridge", "experiments")
        for path in ROOT.glob(f"{package}/**/*.py")
    ]
    for path in (*PAGES, *sources):
        assert not re.search(r"pip install ['\"]?klss", path.read_text(encoding="utf-8")), path


def called(form: str) -> int:
    """Run a command in this process as its program would be; the exit code."""
    program, *arguments = [word.strip("'") for word in re.findall(r"'[^']*'|\S+", form)]
    if program == "klss":
        return main(arguments)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [program, *arguments])
        patch.delitem(sys.modules, program, raising=False)
        patch.delitem(sys.modules, f"{program}.__main__", raising=False)
        try:
            runpy.run_module(program, run_name="__main__")
        except SystemExit as left:
            return int(left.code or 0)
    return 0


@pytest.fixture
def in_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder, and everything smaller that no flag makes so."""
    monkeypatch.chdir(tmp_path)

    # Players who don't think and lines whose position sets stay small, so that a game takes a fraction of a second.
    line = tracker.bench_lines()[0]
    short = tracker.BenchLine(line.name, line.moves[: 10 + (not line.color)], line.color)
    monkeypatch.setattr(tracker, "bench_lines", lambda: [short])
    entries = [entry for entry in suite.suite_entries() if entry.name in ("Qxe8", "rook v bishop and two pawns")]
    monkeypatch.setattr(suite, "suite_entries", lambda: entries)


@pytest.mark.slow
@pytest.mark.usefixtures("in_small")
def test_the_documented_commands_run_in_small(capsys: pytest.CaptureFixture[str]) -> None:
    """All of them, and they leave results behind."""
    for shown, form in IN_SMALL.items():
        code = called(form)
        said = capsys.readouterr()
        assert code == 0, f"{shown}: {form}: {said.err}"
    assert {path.stem for path in Path("results").glob("*.json")} >= {"head_to_head"}
    matches = json.loads(Path("results/head_to_head.json").read_text())["matches"]
    assert [(match["name"], match["games"]) for match in matches] == [
        ("random,cap=500-greedy,cap=500-0.5s", 2),
        ("random,cap=500-random,cap=501-0.5s", 2),
    ]

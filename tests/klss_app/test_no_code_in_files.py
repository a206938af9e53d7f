"""No file of a game or of settings makes us run code that it names, whichever command reads it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import klss as library
from klss.errors import GameError
from klss.support.configuration_text import ConfigurationError
from klss_app.cli.game_option import FOG, game_named
from uci_bridge.bot.config import ConfigError, load_config
from uci_bridge.players import player_spec

CODED = [
    "spy:Spy", "spy.py", "./spy.py", "spy:Spy,cap=5", "kluss,evaluator=spy:Spy", "kluss,cap=spy.py",
    "cmd:python spy.py", "evil.toml", "kluss,evil.toml", "policy:spy.py", "rbc-tower,evaluator=spy:Spy",
    "../x/spy:Spy",
]  # fmt: skip


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that the module ``spy`` makes as soon as it is imported, or run; it can be found from ``tmp_path``."""
    made = tmp_path / "ran"
    (tmp_path / "spy.py").write_text(f"import pathlib\npathlib.Path({str(made)!r}).touch()\nclass Spy: pass\n")
    (tmp_path / "evil.toml").write_text('evaluator = "spy:Spy"\n')
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.delitem(sys.modules, "spy", raising=False)
    return made


def left(folder: Path, engine: str) -> None:
    """A game against ``engine`` that was left, in both games of chess in the dark."""
    folder.mkdir(exist_ok=True)
    (folder / "g.pgn").write_text(f'[White "human"]\n[Black "{engine}"]\n\n1. e4 e5 *\n')
    one: dict[str, Any] = {key: {"true": [None], "false": []} for key in ("senses", "requested_moves")}
    start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    one |= {"fens_before_move": {"true": [start], "false": []}, "reason": "aborted"}
    (folder / "g.json").write_text(json.dumps(one | {"white_name": "human", "black_name": engine}))


@pytest.mark.parametrize("engine", CODED)
def test_a_game_goes_on_against_what_is_packaged_only(klss: Any, tmp_path: Path, ran: Path, engine: str) -> None:
    left(tmp_path / "klss-games", engine)
    for command in (["play", "--resume", "last"], ["board", "--no-open", "--resume", "g"]):
        for game in ("fog", "rbc"):
            again = klss(*command, "--game", game, typed="quit\n")
            assert again.code == 2 and "a file may not start" in again.err and again.err.count("\n") == 1, again.err
    assert not ran.exists()


@pytest.mark.parametrize("engine", ["random", "klss2021-paper,particles=50, nested=false", "kluss,evaluator=builtin"])
def test_a_packaged_player_with_other_settings_plays_on(klss: Any, tmp_path: Path, engine: str) -> None:
    left(tmp_path, engine)
    again = klss("play", "--resume", "g.pgn", "--ascii", typed="quit\n")
    assert again.code == 0, again.err


def test_a_file_of_settings_names_no_code(ran: Path, klss: Any, tmp_path: Path) -> None:
    for kit in (FOG.kit, game_named("rbc").kit):
        with pytest.raises(ConfigurationError, match="expected no code in a file"):
            player_spec(kit, str(tmp_path / "evil.toml"))
    (tmp_path / "bot.yml").write_text(
        "url: https://www.pychess.org\ntoken: {env: T}\nengine: !!python/object/apply:os.system ['touch ran']\n"
    )
    with pytest.raises(ConfigError):
        load_config(tmp_path / "bot.yml")
    out = tmp_path / "m"
    few = ("--fen", "4k3/pppp4/8/8/8/8/PPPP4/4K3 w - - 0 1")  # the sets stay small, whatever is played
    match = ("match", "random", "random", *few, "--nodes", "1", "--check-truth", "--out", "m")
    assert klss(*match, "--games", "1").code == 0
    about = json.loads((out / "match.json").read_text())
    (out / "match.json").write_text(json.dumps(about | {"a": about["a"] | {"evaluator": "spy:Spy"}, "kit": "spy:Spy"}))
    assert klss(*match, "--games", "2").code == 2
    assert not ran.exists()


def test_a_solution_s_file_names_no_module(ran: Path, tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(json.dumps({"game": "spy:Spy", "players": [{"infosets": {}}] * 2}))
    with pytest.raises(GameError, match="which no file may name"):
        library.load(tmp_path / "s.json")
    assert not ran.exists()

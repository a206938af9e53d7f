"""Series of matches: the table of those behind the figures of this project, played by ``python -m experiments.series``.

Each match has a folder, ``RUNS/SERIES/MATCH-BUDGET``, as ``klss match --out`` writes it, and ``commit`` with the commit
that plays it. The same command resumes after a stop of any kind. All matches of a series have one seed, so one list of
openings. ``RESULTS/SERIES.json`` has each match's score with its interval, and a row for each game; entries of matches
that are not played here are kept.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from experiments.commands import RESULTS, RUNS, finished
from klss.play.kit import AnyKit, Spec
from klss.play.limits import Limit
from klss.support.configuration_text import ConfigurationError
from klss_app.flag_types import count
from uci_bridge.errors import UciBridgeError
from uci_bridge.kits.fog import FOG
from uci_bridge.kits.rbc import RBC
from uci_bridge.match.documents import commit, head, write_document
from uci_bridge.match.files import MatchError, read_match
from uci_bridge.match.game import GameLine, sides
from uci_bridge.match.match import Match
from uci_bridge.match.statistics import Standing, score_of_elo
from uci_bridge.players import player_spec


@dataclass(frozen=True)
class Pairing:
    """A match of a series; scores are A's. Players: see :func:`uci_bridge.players.player_spec`."""

    a: str
    b: str
    games: int = 0  # 0: the series' number
    time: float = 1.0  # factor on the series' limit of a move


@dataclass(frozen=True)
class Series:
    """Matches that make one experiment."""

    about: str  # one line
    budget: Limit  # of a move, in blind chess of a question
    games: int  # of a match
    matches: Mapping[str, Pairing]  # by name
    kit: AnyKit = FOG
    seed: int = 1


def _changed(base: str, **changes: str) -> dict[str, Pairing]:
    """Matches of a player with changes to itself."""
    return {name.replace("_", "-"): Pairing(base, f"{base},{change}") for name, change in changes.items()}


def _against(player: str, *others: str, name: str = "", games: int = 0) -> dict[str, Pairing]:
    """Matches of a player against others, named ``name`` and theirs without "rbc-"."""
    return {f"{name}{other.removeprefix('rbc-')}": Pairing(player, other, games) for other in others}


_IMITATED = {
    "rbc-expect": {"rbc-expect": 3, "rbc-tower": 5, "trout": 2, "rbc-attacker": 1, "rbc-random": 1},
    "rbc-tower": {"rbc-tower": 2, "trout": 2, "rbc-attacker": 1, "rbc-random": 1},
    "trout": {"trout": 1, "rbc-attacker": 1},
}
"""Players that the network of ``dsmcp`` imitates, and how often they meet."""

_TREE = "dsmcp,cap=20000"
"""With a capped position set, since following sets of up to two million takes seconds per turn (docs/dsmcp.md, "Play").
"""
_MIXTURE, _CACHE = "dsmcp,mixing=1", "dsmcp,mixing=0"

SERIES = {
    "head_to_head": Series(
        "two players at equal time; the paper's: klss2021 v baseline", Limit(time_s=0.5), 200,
        {
            "klss2021-baseline": Pairing("klss2021", "baseline"),
            "kluss-klss2021-paper": Pairing("kluss", "klss2021-paper"), "kluss-klss2021": Pairing("kluss", "klss2021"),
            "quick": Pairing("kluss", "klss2021", time=0.2), "slow": Pairing("kluss", "klss2021", 40, time=4.0),
        },
    ),
    "opponents": Series(
        "players v some that think less", Limit(time_s=0.1), 100,
        {
            f"{player}-{other}": Pairing(player, other, time=2.0 if other == "baseline" else 1.0)
            for player in ("klss2021", "kluss")
            for other in ("best-guess", "greedy", "random", "baseline")
        },
    ),
    "ablations": Series(
        "klss2021 v itself with one thing off, or other", Limit(time_s=0.1), 100,
        _changed(
            "klss2021", fresh="nested=false", L50="particles=50", L800="particles=800", sampled="purify=false",
            nocaution="caution=1",
        ) | {"builtin": Pairing("klss2021,evaluator=stockfish", "klss2021,evaluator=builtin")},
    ),
    "parts": Series(
        "kluss v itself with one part off, or other", Limit(time_s=0.1), 100,
        _changed(
            "kluss", no_caution="maxmargin_share=0", order_1="order=1", fresh="nested=false",
            even_prior="value_beta=0", purification="purify=false", maxmargin_alone="root=maxmargin",
        ) | {"one-thread": Pairing("kluss,threads=2", "kluss,threads=1")},
    ),
    "belief_games": Series(
        "kluss with learned beliefs v without", Limit(time_s=0.1), 200,
        {
            "uniform": Pairing("kluss-value,value_beta=0", "kluss-value"),
            "filter": Pairing("kluss", "kluss-value"),
            "filter-not-drawn": Pairing("kluss,sample_by_weight=false", "kluss-value"),
            "filter-alone": Pairing("kluss,value_beta=0", "kluss-value"),
        },
    ),
    "learn_policy": Series(  # no player has a learned belief
        "games that the policy of moves is learned from", Limit(nodes=4000), 160,
        {
            f"{a}-{b}": Pairing(a, b, games)
            for a, b, games in (
                ("kluss-value", "kluss-value", 300), ("klss2021", "baseline", 160), ("kluss-value", "best-guess", 160),
                ("kluss-value", "greedy", 160), ("kluss-value", "klss2021", 200),
            )
        },
        seed=16,
    ),
    "learn_evaluation": Series(
        "games around whose positions the evaluation learns from itself", Limit(nodes=4000), 50,
        {
            f"{a}-{b}": Pairing(a, b)
            for a, b in (("kluss-value", "kluss-value"), ("kluss-value", "klss2021"), ("klss2021", "baseline"))
        },
        seed=63,
    ),
    "rbc_games": Series(
        "the default player of blind chess v bots of reconchess, simple players and dsmcp",
        Limit(nodes=10_000), 200,
        _against("rbc-tower", "trout", "attacker", "rbc-expect")
        | _against("rbc-tower", "random", games=60)
        | {"rbc-attacker": Pairing("rbc-tower", "rbc-attacker"), "dsmcp": Pairing("rbc-tower", _TREE)},
        kit=RBC, seed=1800,
    ),
    "learn_fog": Series(
        "games that the weights of positions of Fog of War are learned from", Limit(nodes=8000), 300,
        {
            "own": Pairing("kluss", "kluss", 500), "klss2021": Pairing("kluss", "klss2021"),
            "value": Pairing("kluss", "kluss-value", 200), "paper": Pairing("kluss", "klss2021-paper", 60),
        },
        seed=27,
    ),
    "learn_rbc": Series(
        "games that the weights of positions of blind chess are learned from", Limit(nodes=10_000), 150,
        {"own": Pairing("rbc-tower", "rbc-tower", 700), "dsmcp": Pairing("rbc-tower", _TREE, 40)}
        | _against("rbc-tower", "rbc-expect", "attacker", "random")
        | {"trout": Pairing("rbc-tower", "trout", 250), "greedy": Pairing("rbc-tower", "rbc-attacker", 60)},
        kit=RBC, seed=27,
    ),
    "learn_siamese": Series(
        "games that the pair of networks is learned from", Limit(nodes=500), 40,
        {"own": Pairing("rbc-tower", "rbc-tower", 64), "dsmcp": Pairing("rbc-tower", _TREE, 24)}
        | _against("rbc-tower", "trout", "rbc-expect", games=60) | _against("rbc-tower", "rbc-attacker", games=36)
        | {"random": Pairing("rbc-tower", "random", 16), "expect-dsmcp": Pairing("rbc-expect", _TREE, 16)}
        | _against("rbc-expect", "trout", "attacker", name="expect-"),
        kit=RBC, seed=28,
    ),
    "learn_dsmcp": Series(
        "games that the network of dsmcp is learned from", Limit(nodes=100), 765,
        {
            f"{a}-{b}".replace("rbc-", ""): Pairing(a, b, 765 * share)
            for a, others in _IMITATED.items() for b, share in others.items()
        },
        kit=RBC, seed=19,
    ),
    "rbc_siamese": Series(
        "the player of Bertram, Fürnkranz and Müller v ours and bots", Limit(nodes=500), 40,
        _against("rbc-siamese", "rbc-tower", "rbc-expect", "trout", "attacker")
        | {"tower-of-50-boards": Pairing("rbc-siamese", "rbc-tower,boards=50")},
        kit=RBC, seed=2023,
    ),
    # The tables of Clark (2021) in small. The names are those of the results, whose ``dsmcp`` is the mixture.
    "rbc_planning": Series(
        "planning on synopses by the mixture of policy and bound, by the bound, and by the policy alone",
        Limit(nodes=300), 60,
        {"dsmcp-tree": Pairing(_MIXTURE, _TREE, 200), "dsmcp-cache": Pairing(_MIXTURE, _CACHE)}
        | _against(_TREE, "trout", "attacker", "rbc-expect", "rbc-tower", name="tree-")
        | _against(_MIXTURE, "trout", name="dsmcp-", games=200)
        | _against(_MIXTURE, "attacker", "rbc-expect", "rbc-tower", "rbc-rl", name="dsmcp-")
        | _against(_CACHE, "trout", "attacker", name="cache-")
        | _against("rbc-rl", "trout", name="rl-", games=200)
        | _against("rbc-rl", "rbc-random", name="rl-"),
        kit=RBC, seed=1800,
    ),
}  # fmt: skip
"""The series by name. ``one-thread`` means something only if a game has two cores to itself (``--workers 1``)."""


def played(
    series: Series, name: str, pairing: Pairing, folder: Path, workers: int, scheduler: str | None = None
) -> dict[str, Any]:
    """Play the remaining games of a match in a folder of ``folder``, with a line for each on standard error; return its
    entry in the results. Raises MatchError: its games are of another commit, or see
    :meth:`uci_bridge.match.match.Match.run`.
    """
    budget = series.budget
    if budget.time_s is not None:
        budget = Limit(time_s=budget.time_s * pairing.time)
    name += f"-{budget.time_s:g}s" if budget.nodes is None else f"-{budget.nodes}nodes"
    match = Match(
        kit=series.kit, a=_alone(series.kit, pairing.a), b=_alone(series.kit, pairing.b),
        games=pairing.games or series.games, seed=series.seed, budget=budget,
        openings=4 if series.kit is FOG else None,  # blind chess has no such start
    )  # fmt: skip
    here, mine = folder / name, str(commit())
    of_games = here / "commit"
    if of_games.exists() and of_games.read_text(encoding="utf-8") != mine:
        raise MatchError(
            f"{here}: got games of another commit, expected {mine}; check that one out, or move the folder"
        )

    def tell(line: GameLine, standing: Standing) -> None:
        of_games.write_text(mine, encoding="utf-8")  # the folder is locked now, and has a game that counts
        print(f"{name}: {standing.score:g} of {standing.games}, {line['reason']}", file=sys.stderr, flush=True)

    standing = match.run(here, tell, workers=workers, scheduler=scheduler)
    columns = ["game", "winner", "plies", "reason", "a's color"]
    rows = [
        [*map(line.get, columns[:4]), "white" if sides(line["game"])[True] == "a" else "black"]
        for line in (read_match(here) or ({}, [], []))[1]
    ]
    # The 95 % interval of the score of a game, from that of the Elo difference.
    low, high = score_of_elo(standing.elo.low), score_of_elo(standing.elo.high)
    return {
        "name": name,
        **{key: found for key, found in match.identity().items() if key not in ("format", "fen")},
        "a": pairing.a,
        "b": pairing.b,
        **match.document(standing),
        "percent": [round(100 * share, 2) for share in (low, standing.score / standing.games, high)],
        "samples": {"columns": columns, "rows": rows},
    }


def _alone(kit: AnyKit, text: str) -> Spec:
    """The player of a text, with one thread if it can have more and names no number."""
    found = player_spec(kit, text)
    return player_spec(kit, f"{text},threads=1") if "threads" in found.fields() and ",threads=" not in text else found


def main(arguments: Sequence[str] | None = None) -> int:
    """Play the remaining games of a series, and write its results; return the exit code."""
    listed = "\n".join(
        f"  {name:14}{len(series.matches):3} x {series.games} games: {series.about}" for name, series in SERIES.items()
    )
    parser = argparse.ArgumentParser(
        prog="python -m experiments.series", description="Play a series of matches, or what is left of it.",
        epilog=f"series:\n{listed}", formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    add = parser.add_argument
    add("name", choices=SERIES, metavar="SERIES", help="one of those below")
    add("--only", nargs="+", metavar="MATCH", help="matches to play")
    add("--games", type=count, metavar="N", help="of each match, instead of the usual numbers")
    add("--nodes", type=count, metavar="N", help="nodes a move, instead of the usual limit")
    add("--workers", type=count, default=2, metavar="W", help="games at a time (default 2)")
    add("--runs", type=Path, default=RUNS, metavar="DIR", help="where matches are kept (default experiments/runs)")
    add("--results", type=Path, default=RESULTS, metavar="DIR", help="of NAME.json (default experiments/runs/results)")
    parsed = parser.parse_args(arguments)
    series = SERIES[parsed.name]
    if unknown := set(parsed.only or ()) - series.matches.keys():
        parser.error(f"--only: got {', '.join(sorted(unknown))}; expected names of {', '.join(series.matches)}")
    if parsed.nodes:
        series = replace(series, budget=Limit(nodes=parsed.nodes))
    path = parsed.results / f"{parsed.name}.json"

    def play() -> None:
        for name, pairing in series.matches.items():
            if parsed.only and name not in parsed.only:
                continue
            pairing = replace(pairing, games=parsed.games or pairing.games)
            found = played(series, name, pairing, parsed.runs / parsed.name, parsed.workers)
            low, middle, high = found["percent"]
            print(f"{found['name']}: {middle} % ({low} to {high}) of {found['games']}", flush=True)
            before = json.loads(path.read_text(encoding="utf-8"))["matches"] if path.exists() else []
            kept = {match["name"]: match for match in (*before, found)}
            write_document(path, head(parsed.name) | {"matches": list(kept.values())})

    return finished(play, ConfigurationError, UciBridgeError, OSError)


if __name__ == "__main__":
    sys.exit(main())

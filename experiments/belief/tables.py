"""The tables on beliefs in experiments/README.md, from their results."""

from __future__ import annotations

from typing import Any

from experiments.markdown import wrapped

__all__ = ["loss", "main_beliefs", "rank"]


def main_beliefs(found: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of the main beliefs, which represent the others."""
    shown = ("exp(-bu)", "values + value", "siamese + value", "both + value")
    return [row for row in found["beliefs"] if row["belief"] in shown]


def rank(found: dict[str, Any]) -> list[str]:
    """The table of ``belief_rank.json``."""
    text = (
        f"{found['turns']} turns of {found['games']['held_out']} held-out games. *Nats*: logarithm of the truth's "
        "weight over uniform, with its standard error (by game); *rank*: share of the positions that are held likelier "
        "(median); *quantile*: weight of the positions that are worth less to the player than the true one (median; "
        "0.5 if the belief were true). Exponents of the filter, of the Siamese and of exp(−u) where they were fitted."
    )
    columns = ("belief", "exponents", "nats, 20 or more", "100 or more", "5,000 or more", "rank", "quantile")
    lines = [*wrapped(text), "", f"| {' | '.join(columns)} |"]
    lines.append("|---|---|---|---|---|---|---|")
    for row in found["beliefs"]:
        sizes = row["sizes"]
        nats = [
            f"{size['nats']:.2f} ± {size['nats_error']:.2f}" if size["turns"] else ""
            for size in (sizes["20"], sizes["100"], sizes["5000"])
        ]
        exponents = " / ".join(f"{row[name]:g}" for name in ("filter", "siamese", "slope") if name in row)
        tail = f"{sizes['20']['rank_median']:.3f} | {sizes['20']['quantile_median']:.3f}"
        lines.append(f"| {row['belief']} | {exponents} | {' | '.join(nats)} | {tail} |")
    return lines


def loss(found: dict[str, Any]) -> list[str]:
    """The table of ``belief_loss.json``."""
    about, said = found["configuration"], found["summary"]
    text = (
        f"{found['turns']} turns of {found['games']} games, {about['nodes']:,} nodes a search: the value of the best "
        f"move on the true board less that of the move played, by {found['stockfish']} at depth {about['depth']}, in "
        "[0, 2]. The differences have 95 % intervals (by game). The oracles are given the truth, with that prior."
    )
    lines = [
        *wrapped(text),
        "",
        "| belief | loss | above .25 | less uniform's | less value's |",
        "|---|---|---|---|---|",
    ]
    for arm, row in said.items():
        less = (_less(row["less"].get(base)) for base in ("uniform", "value"))
        lines.append(f"| {arm} | {row['loss']:.4f} | {100 * row['above_quarter']:.1f} % | {' | '.join(less)} |")
    return lines


def _less(difference: list[float] | None) -> str:
    if difference is None:
        return ""
    low, middle, high = (f"{number:+.4f}".replace("-", "−") for number in difference)
    return f"{middle} ({low} to {high})"

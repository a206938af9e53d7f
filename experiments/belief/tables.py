"""What experiments/README.md says of beliefs, from their results."""

from __future__ import annotations

from typing import Any

from experiments.markdown import wrapped

__all__ = ["allowance", "allowed", "loss", "main_beliefs", "quantile", "rank"]


def quantile(found: dict[str, Any]) -> list[str]:
    """Of ``belief.json``."""
    said, count = found["summary"], len(found["samples"]["rows"])
    text = (
        f"Before {count} moves of {found['games']} games: among the values that the positions possible for the player "
        f"to move have for her, the true position's lies at the {said['quantile_median']:.3f} quantile (median; "
        f"quartiles {said['quantile_25']:.3f} and {said['quantile_75']:.3f}), where .5 would be the middle, and in "
        f"{100 * said['share_below_tenth']:.0f} % of the cases in the lowest tenth. On average a possible position is "
        f"worth {said['expected_too_much']:.2f} more to her than the true one. Opponents choose their moves; most of "
        "what agrees with a player's views comes from moves that nobody would choose."
    )
    return wrapped(text)


def main_beliefs(found: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows that stand for the others."""
    shown = ("exp(-bu)", "values + value", "siamese + value", "both + value")
    return [row for row in found["beliefs"] if row["belief"] in shown]


def rank(found: dict[str, Any]) -> list[str]:
    """Of ``belief_rank.json``."""
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
    """Of ``belief_loss.json``."""
    about, said = found["configuration"], found["summary"]
    text = (
        f"{found['turns']} turns of {found['games']} games, {about['nodes']:,} nodes a search: the value of the best "
        f"move on the true board less that of the move played, by {found['stockfish']} at depth {about['depth']}, in "
        "[0, 2]. The differences have 95 % intervals (by game). The oracles are told the truth, with that prior."
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


def allowance(found: dict[str, Any]) -> list[str]:
    """Of ``belief_allowance.json``."""
    about = found["configuration"]
    text = (
        f"{found['turns']} turns with at least {about['least']} possible positions, of {found['games']} games: nats on "
        "the truth above uniform, a fifth of all weight being spread evenly. *Shared*: the likeliest positions get the "
        "dearest level, what is not reached is spread evenly; *all or none*: one level for all, the dearest that there "
        "is time for, and a fresh start where there is time for none. The gain has its 95 % interval (by game)."
    )
    large = f"{about['large']:,} or more"
    lines = [*wrapped(text), "", f"| seconds a view | shared | all or none | gain | shared, {large} | all or none |"]
    lines.append("|---|---|---|---|---|---|")
    for row in found["summary"]:
        low, middle, high = (f"{number:+.2f}".replace("-", "−") for number in row["gain"])
        many = [row["large"][arm] for arm in ("shared", "all_or_none")]
        said = " | ".join("" if nats is None else f"{nats:.2f}" for nats in many)
        lines.append(
            f"| {allowed(row)} | {row['shared']:.2f} | {row['all_or_none']:.2f} | {middle} ({low} to {high}) | {said} |"
        )
    return lines


def allowed(row: dict[str, Any]) -> str:
    """A row's seconds a view; JSON has no infinity."""
    return "no limit" if row["allowance_s"] == "inf" else f"{row['allowance_s']:g}"


def _less(difference: list[float] | None) -> str:
    if difference is None:
        return ""
    low, middle, high = (f"{number:+.4f}".replace("-", "−") for number in difference)
    return f"{middle} ({low} to {high})"

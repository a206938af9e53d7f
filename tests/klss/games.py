"""Small games for the tests, built by hand; none of them needs OpenSpiel."""

from __future__ import annotations

import numpy as np

from klss.theory.game import Game, GameBuilder


def figure_1() -> Game:
    """Zhang & Sandholm (2021), Figure 1; utilities read off the matrices of Appendix C: n for two heads, 5 - n for two
    tails, else 0.
    """
    builder = GameBuilder()
    root = builder.add_chance(None, None)
    red = {1: "R1", 2: "R1", 3: "R3", 4: "R3"}
    cyan = {1: "C0", 2: "C2", 3: "C2", 4: "C4"}
    for n in (1, 2, 3, 4):
        node = builder.add_decision(root, str(n), player=0, observations=(red[n], cyan[n] + "'"), probability=0.2)
        for mine in "ht":
            below = builder.add_decision(node, mine, player=1, observations=(red[n] + mine, cyan[n]))
            for yours in "ht":
                builder.add_terminal(below, yours, utility=float(mine == yours) * (n if mine == "h" else 5 - n))
    builder.add_terminal(root, "e", utility=7.0, probability=0.2)
    return builder.build()


def kuhn() -> Game:
    """Kuhn (1950): three cards, ante 1, one bet of 1."""
    builder = GameBuilder()
    root = builder.add_chance(None, None)
    for mine in (1, 2, 3):
        for yours in (1, 2, 3):
            if mine == yours:
                continue
            sign = 1.0 if mine > yours else -1.0

            def seen(player: int, said: str, mine: int = mine, yours: int = yours) -> tuple[str, str]:
                return (f"{mine}{said}{'!' if player == 0 else '?'}", f"{yours}{said}{'!' if player == 1 else '?'}")

            start = builder.add_decision(root, f"{mine}{yours}", player=0, observations=seen(0, ""), probability=1 / 6)
            check = builder.add_decision(start, "pass", player=1, observations=seen(1, "p"))
            bet = builder.add_decision(start, "bet", player=1, observations=seen(1, "b"))
            builder.add_terminal(check, "pass", utility=sign)
            raised = builder.add_decision(check, "bet", player=0, observations=seen(0, "pb"))
            builder.add_terminal(raised, "pass", utility=-1.0)
            builder.add_terminal(raised, "bet", utility=2 * sign)
            builder.add_terminal(bet, "pass", utility=1.0)
            builder.add_terminal(bet, "bet", utility=2 * sign)
    return builder.build()


def mistake(outcomes: int) -> Game:
    """Player 1 is of type s or t, with probability 1/2 each. As s it leaves for .4 or stays; as t it stays. Then one of
    the public ``outcomes`` comes up, all equally likely, and changes nothing. Player 0, who knows the outcome alone,
    chooses L (1 against s, 0 against t) or R (0 against s, 1/2 against t). Against L with probability p, staying as s
    is worth p; at p = 1/2 it is a mistake of .1.
    """
    builder = GameBuilder()
    root = builder.add_chance(None, None)
    pays = {"s": (1.0, 0.0), "t": (0.0, 0.5)}
    for kind in "st":
        seen = ("waits", kind)
        node = builder.add_decision(root, kind, player=1, observations=seen, probability=0.5)
        if kind == "s":
            builder.add_terminal(node, "leave", utility=0.4)
        drawn = builder.add_chance(node, "stay")
        for n in range(outcomes):
            seen = (f"{n}!", f"{kind}{n}?")
            choice = builder.add_decision(drawn, str(n), player=0, observations=seen, probability=1.0 / outcomes)
            for action, utility in zip("LR", pays[kind], strict=True):
                builder.add_terminal(choice, action, utility=utility)
    return builder.build()


def random_game(seed: int, depth: int = 4, *, width: int = 3, secrets: int = 2) -> Game:
    """A random game: chance deals both players secrets, then they move in random turns; some moves are hidden from the
    other player.
    """
    rng = np.random.default_rng(seed)
    builder = GameBuilder()
    root = builder.add_chance(None, None)
    deals = [(a, b) for a in range(secrets) for b in range(secrets)]
    chances = rng.dirichlet(np.ones(len(deals)))
    # What is public (who moves, how many actions, what the other sees of them) depends on the public history only.
    plan: dict[tuple[object, ...], tuple[int, int, bool]] = {}

    def scheme(public: tuple[object, ...], level: int) -> tuple[int, int, bool]:
        if public not in plan:
            plan[public] = (int(rng.integers(2)), int(rng.integers(1, width + 1)), bool(rng.random() < 0.5))
        return plan[public] if level < depth else (-1, 0, False)

    def grow(
        parent: int,
        edge: str,
        chance: float,
        public: tuple[object, ...],
        private: tuple[tuple[object, ...], ...],
        level: int,
    ) -> None:
        mover, count, hidden = scheme(public, level)
        if mover < 0 or (level > 1 and rng.random() < 0.15):
            builder.add_terminal(parent, edge, utility=float(np.round(rng.normal(), 2)), probability=chance)
            return
        node = builder.add_decision(
            parent,
            edge,
            player=mover,
            observations=((0, *private[0], public), (1, *private[1], public)),
            probability=chance,
        )
        for a in range(count):
            seen = (*public, "x" if hidden else a)
            own = list(private)
            own[mover] = (*own[mover], a)
            grow(node, str(a), 1.0, seen, tuple(own), level + 1)

    for deal, chance in zip(deals, chances / chances.sum()):
        grow(root, str(deal), float(chance), (), ((deal[0],), (deal[1],)), 0)
    return builder.build()

"""Passes over a game whose tree is not stored: see :mod:`klss.theory.implicit`, which compiles these two functions
anew for every game's rules. They are no kernels before: the six names below stand for functions of the game.

A node of the walk is a *world* with a list of entries for each player: the pairs (sequence, private part) with which
that player may be there. Every pair of entries is one history, so a node stands for as many histories as the product
of its lists. An action leads to an event of the world, and the mover's entries are sorted by it. A list is a range of
rows of ``lists[player]``; what the node adds lies above it, and is dropped with it.
"""

from __future__ import annotations

from typing import Any

from klss.theory.movers import CHANCE, TERMINAL

mover: Any = None
actions: Any = None
act: Any = None
child: Any = None
observe: Any = None
payoff: Any = None

DONE, PAUSED, LISTS_FULL, TREE_FULL, TOO_DEEP, UNEQUAL = range(6)
"""What :func:`walk` returns; UNEQUAL: one infoset has two numbers of actions."""

NOBODY, OWNER, OTHER = range(3)
"""Roles of a mover: without an owner the walk lists the infosets; else it computes the owner's utilities."""

WORLD, EVENT, EVENTS, OPEN, LOW, HIGH, TOP, FRAME = 0, 1, 2, 3, 4, 6, 8, 10
"""Columns of a frame, and their number: the world, the next event (−1: not entered yet) and the number of events, where
the entries sorted by events begin; for each player (+ 0, + 1) the range of its list, and the first free row.
"""

SEQUENCE, PRIVATE, LED = range(3)
"""Of an entry; LED: the event that led to it, −1 for none."""


def enter(
    p: Any, side: Any, who: int, role: int, piece: int, pieces: int, plan: Any, own: Any, masses: Any, frame: Any,
    ends: Any,
) -> Any:  # fmt: skip
    """Sort what the mover's actions lead to by events: those of event e end before OPEN + ``ends[e]``. Return the
    number of entries with which it may move here, or minus a code.
    """
    world, base, low, room = frame[WORLD], frame[TOP + who], frame[LOW + who], own.shape[1]
    end = base + frame[HIGH + who] - low
    if end > room:
        return -LISTS_FULL
    own[:LED, base:end] = own[:LED, low : frame[HIGH + who]]
    own[LED, base:end] = -1
    masses[base:end] = masses[low : frame[HIGH + who]]
    ends[:] = 0
    met, j = 0, base
    while j < end:
        if own[LED, j] >= 0:
            j += 1
            continue
        sequence, private = own[SEQUENCE, j], own[PRIVATE, j]
        met, j, count = met + 1, j + 1, actions(p, world, private)
        if end + count > room:
            return -LISTS_FULL
        # The infoset after that sequence with that observation. One action is no choice: it needs no infoset.
        first = -1
        if count > 1:
            key, infoset = observe(p, world, private), side.head[sequence]
            while infoset >= 0 and side.key[infoset] != key:
                infoset = side.following[infoset]
            if infoset < 0:
                infoset, first = side.used[0], side.used[1]
                if infoset >= side.key.shape[0] or first + count > side.head.shape[0]:
                    return -TREE_FULL
                side.key[infoset], side.following[infoset] = key, side.head[sequence]
                side.parent_sequence[infoset], side.first_sequence[infoset] = sequence, first
                side.action_count[infoset], side.head[sequence] = count, infoset
                side.head[first : first + count] = -1
                side.used[0], side.used[1] = infoset + 1, first + count
            if side.action_count[infoset] != count:
                return -UNEQUAL
            first = side.first_sequence[infoset]
        for k in range(count):
            s = sequence if first < 0 else first + k
            if (role == OTHER and plan[s] == 0.0) or (role == OWNER and sequence == 0 < s and k % pieces != piece):
                continue
            event, after = act(p, world, private, k)
            own[SEQUENCE, end], own[PRIVATE, end] = s, after
            own[LED, end] = event
            masses[end] = plan[s] if role == OTHER else 1.0
            if event >= 0:
                ends[event] += 1
            end += 1
    total = 0
    for event in range(ends.shape[0]):
        total += ends[event]
        ends[event] = total - ends[event]
    if end + total > room:
        return -LISTS_FULL
    for j in range(base, end):
        event = own[LED, j]
        if event >= 0:
            at = end + ends[event]
            ends[event] += 1
            own[SEQUENCE, at], own[PRIVATE, at] = own[SEQUENCE, j], own[PRIVATE, j]
            masses[at] = masses[j]
    frame[OPEN], frame[EVENTS] = end, ends.shape[0]
    return met


def walk(
    p: Any, dense: bool, sides: Any, player: int, piece: int, pieces: int, plan: Any, utility: Any, lists: Any,
    masses: Any, frames: Any, ends: Any, state: Any,
) -> Any:  # fmt: skip
    """Go on with a walk from the state in which it was left; return a code.

    Parameters
    ----------
    p : int64[…]
        The game's parameters.
    dense : bool
        Whether payoffs depend on the players' private parts.
    sides : two of :class:`klss.theory.implicit.Tree`
    player : int
        The owner; −1: list the infosets.
    piece, pieces : int
        Only the actions k with k % pieces = piece are walked at the owner's first choices, so that no two pieces write
        the same utilities.
    plan : float64[S]
        The other player's; its sequences of probability 0 are left out.
    utility : float64[S]
        The owner's; payoffs (to player 0) are added.
    lists : int64[2, 3, C]
    masses : float64[2, C]
        The plan of each entry of the other player.
    frames : int64[D, FRAME]
    ends : int64[D, E]
    state : int64[3]
        The depth of the frame to go on with; the number of nodes until a pause; of histories met (with listing).
    """
    depth = state[0]
    while depth >= 0:
        frame = frames[depth]
        world = frame[WORLD]
        who = mover(p, world)
        if frame[EVENT] < 0:
            state[0] = depth
            if state[1] <= 0:
                return PAUSED
            if depth + 1 >= frames.shape[0]:
                return TOO_DEEP
            if who == CHANCE:
                frame[EVENTS], met = actions(p, world, 0), frame[HIGH + 1] - frame[LOW + 1]
            else:
                role = NOBODY if player < 0 else (OWNER if player == who else OTHER)
                met = enter(p, sides[who], who, role, piece, pieces, plan, lists[who], masses[who], frame, ends[depth])
                if met < 0:
                    return -met
            state[1] -= 1
            state[2] += met * (frame[HIGH + 1] - frame[LOW + 1] if who == 0 else frame[HIGH] - frame[LOW])
            frame[EVENT] = 0
        event = frame[EVENT]
        if event >= frame[EVENTS]:
            depth -= 1
            continue
        frame[EVENT] = event + 1
        below = frames[depth + 1]
        for column in range(LOW, FRAME):
            below[column] = frame[column]
        if who != CHANCE:
            below[LOW + who] = frame[OPEN] + (ends[depth, event - 1] if event > 0 else 0)
            below[HIGH + who] = frame[OPEN] + ends[depth, event]
            below[TOP + who] = frame[OPEN] + ends[depth, -1]
            if below[LOW + who] == below[HIGH + who]:
                continue
        after = child(p, world, event)
        if mover(p, after) != TERMINAL:
            depth += 1
            below[WORLD], below[EVENT] = after, -1
            continue
        # A terminal: the owner's utilities, or one history for each pair.
        if player < 0:
            state[2] += (below[HIGH] - below[LOW]) * (below[HIGH + 1] - below[LOW + 1])
            continue
        own, other = lists[player], lists[1 - player]
        weights, first, last = masses[1 - player], below[LOW + 1 - player], below[HIGH + 1 - player]
        paid = 0.0
        if not dense:
            for j in range(first, last):
                paid += weights[j]
            paid *= payoff(p, after, 0, 0)
        for i in range(below[LOW + player], below[HIGH + player]):
            if dense:
                paid = 0.0
                for j in range(first, last):
                    if player == 0:
                        paid += weights[j] * payoff(p, after, own[PRIVATE, i], other[PRIVATE, j])
                    else:
                        paid += weights[j] * payoff(p, after, other[PRIVATE, j], own[PRIVATE, i])
            s = own[SEQUENCE, i]
            if s > 0 or piece == 0:
                utility[s] += paid
    state[0] = -1
    return DONE

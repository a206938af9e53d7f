"""Planning on synopses: a best response to a modelled opponent, by playouts over sets of states.

Source: G. Clark, *Deep Synoptic Monte Carlo Planning in Reconnaissance Blind Chess* (NeurIPS 2021). Nothing here knows
any game: batches of playouts go to a :class:`~klss.synoptic.model.Model`, batches of synopses to a
:class:`~klss.synoptic.model.Network`.

Reading order: ``planning`` (the constants), ``model`` (what a game and a network provide), ``bandit`` (what is tried
next), ``particles`` (what the opponent may hold possible), ``playouts`` (ChooseAction), ``planner`` (one player through
a game).

Slips and gaps of the source, and how each is mended (:mod:`klss.synoptic.planning` has the constants):

1. DrawSample does not keep the opponent to what it would observe: a particle carries a true state, and its set is
   that of a player who observed what is observed there (:mod:`klss.synoptic.particles`).
2. It is written for the opponent's turn alone: on the planner's own turn a particle follows the action that the planner
   took.
3. ``N[K_t, a_t]`` names an action at a set at which it was not chosen: what is counted is always the action at the set
   at which it was chosen; the root, which the listing forgets, has counts of its own (:mod:`klss.synoptic.playouts`).
4. The backup stands within the loop over depths: every value of a playout goes to all before it. A playout that is
   over, or decided, before its depth counts as often as one that goes on: otherwise a win at once would weigh a twelfth
   of a line that nobody wins.
5. The answer is the largest *total*, which with values in [−1, 1] would prefer what was never tried wherever all is
   lost: here it is the likeliest of the policy improved by values (:mod:`klss.synoptic.bandit`).
6. The bandit's formula is undefined for what was not tried yet: it has the mean of what was tried at the set.
7. "The one state common to both sets" is in general not one: it is carried along.
8. Values are in [−1, 1], for who acts.
9. Sets hold at most ``max_members`` states, not one more.
10. Virtual losses lie on an action from when it is chosen until its first value comes back, at every depth.
"""

"""Planning on synopses: a best response to a modelled opponent, by playouts over sets of states.

Source: G. Clark, *Deep Synoptic Monte Carlo Planning in Reconnaissance Blind Chess* (NeurIPS 2021). The package is
independent of a game: batches of playouts go to a :class:`~klss.synoptic.model.Model`, batches of synopses to a
:class:`~klss.synoptic.model.Network`.

Reading order: ``planning`` (the constants), ``model`` (what a game and a network provide), ``bandit`` (the next action
to try), ``playouts`` (ChooseAction), ``planner`` (one player in a game, with the opponent's possible sets).

Slips and gaps of the source, and our mends (:mod:`klss.synoptic.planning` has the constants):

1. In DrawSample the opponent's set need not follow from its observations. Here a particle has a true state, and its
   set is that of a player with the observations made there (:mod:`klss.synoptic.planner`).
2. DrawSample covers the opponent's turn only. Here, on the planner's turn a particle follows the planner's action.
3. ``N[K_t, a_t]`` combines an action with a set at which it was not chosen. Here an action is counted at the set at
   which it was chosen; the root, which the listing omits, has its own counts (:mod:`klss.synoptic.playouts`).
4. The backup is inside the loop over depths: every value of a playout is added to all actions before it. A playout that
   is over or decided before its depth counts as often as one that goes on; otherwise, with playouts of twelve actions,
   an immediate win would have a twelfth of the weight of a line that nobody wins.
5. The answer is the largest *total*. With values in [−1, 1] that would prefer an untried action if all are losing. Here
   it is the likeliest action of the policy improved by values (:mod:`klss.synoptic.bandit`).
6. The bandit's formula is undefined for an untried action. Here it gets the mean of the actions tried at the set.
7. "The one state common to both sets" is in general not one; here the true state is kept in the particle.
8. Values are in [−1, 1], for the player that acts.
9. Sets have at most ``max_members`` states, not one more.
10. A virtual loss counts for an action from its choice until its first value comes back, at every depth.
"""

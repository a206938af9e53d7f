"""Seeds: what they are a function of, and that nothing else hangs on them."""

from __future__ import annotations

from klss.support.seeds import fresh_seed, game_seed, opening_seed, player_seed


def test_seeds_follow_from_the_one_above_and_differ_by_what_they_are_for() -> None:
    for match in (7, fresh_seed()):
        games = [game_seed(match, game) for game in range(100)]
        openings = [opening_seed(match, pair) for pair in range(100)]
        players = [player_seed(game, seat) for game in games for seat in ("white", "black")]
        assert games == [game_seed(match, game) for game in range(100)]
        assert len({*games, *openings, *players}) == 400


def test_a_fresh_seed_is_one_of_too_many_to_guess_and_every_reader_of_numbers_can_hold_a_player_s() -> None:
    seeds = [fresh_seed() for _ in range(1000)]
    assert len(set(seeds)) == 1000 and all(10**17 <= seed < 10**18 for seed in seeds)
    assert all(10**17 <= game_seed(seed, 0) < 10**18 and 0 <= player_seed(seed, "white") < 2**53 for seed in seeds)

"""Compiled loops over game trees and treeplexes: arrays in, arrays out; the modules of the parent package validate and
allocate.

Reading order: ``tree`` (nodes of a game), ``treeplex`` (sequences of a player), ``responses`` (their values against a
fixed opponent), ``regrets`` (regret matching), ``implicit`` (walks over a game that is not
listed).
"""

"""Compiled loops over game trees and treeplexes: arrays in, arrays out; the faces in the parent package validate and
allocate.

Reading order: ``tree`` (nodes of a game), ``treeplex`` (sequences of a player), ``responses`` (what they are worth
against a fixed opponent), ``regrets`` (regret matching).
"""

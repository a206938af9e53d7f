"""Reconnaissance Blind Chess held against other programs, and measured: what ``klss rbc verify`` and ``bench`` run.

Reading order: ``boards`` (a set of positions by reconchess's functions), ``verify``, ``bench``;
``expectation_thoughts`` and ``synoptic_thoughts`` (what players think at one turn).
"""

"""Compiled parts of :mod:`klss.synoptic`.

Reading order: ``bandit`` (counts and the choice by them).
"""

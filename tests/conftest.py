"""Fixtures for every test: what the machine has to offer, and what a test does where it is missing."""

from __future__ import annotations

import os
import shutil

import pytest

DEBIAN_STOCKFISH = "/usr/games/stockfish"


@pytest.fixture(scope="session")
def require_stockfish() -> str:
    """Path of a Stockfish; the test is skipped where there is none, or fails if KLSS_REQUIRE_STOCKFISH=1."""
    named = os.environ.get("KLSS_STOCKFISH") or shutil.which("stockfish") or shutil.which(DEBIAN_STOCKFISH)
    if named:
        return named
    message = f"no Stockfish: KLSS_STOCKFISH is not set, none on PATH, none at {DEBIAN_STOCKFISH}"
    if os.environ.get("KLSS_REQUIRE_STOCKFISH") == "1":
        pytest.fail(message + ", and KLSS_REQUIRE_STOCKFISH=1 asks for one")
    pytest.skip(message)

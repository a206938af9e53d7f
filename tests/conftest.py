"""Fixtures for every test: what the machine has to offer, and what a test does where it is missing."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import logging
import os
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a coroutine."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    asyncio.run(asyncio.wait_for(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}), 1800))
    return True


@pytest.fixture(autouse=True)
def as_loud_as_before() -> Iterator[None]:
    """Commands that run in the tests' own process quieten a logger for good, and ``klss bot`` takes all of them."""
    root, logger = logging.getLogger(), logging.getLogger("uci_bridge")
    handlers, levels = root.handlers[:], (root.level, logger.level)
    yield
    root.handlers[:] = handlers
    root.setLevel(levels[0])
    logger.setLevel(levels[1])


@pytest.fixture
def played_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Configurations play their matches in the tests' own process: for a test that is not of engines in processes."""
    from uci_bridge.match.match import Match

    run = Match.run

    def checked(match: Match, *arguments: Any, **named: Any) -> Any:
        return run(dataclasses.replace(match, check_truth=True), *arguments, **named)

    monkeypatch.setattr(Match, "run", checked)


@pytest.fixture(scope="session")
def require_stockfish() -> str:
    """Path of a Stockfish; the test is skipped where there is none, or fails if KLSS_REQUIRE_STOCKFISH=1."""
    from uci_bridge.errors import StockfishMissing
    from uci_bridge.stockfish.evaluator import find_stockfish

    try:
        return find_stockfish()
    except StockfishMissing as error:
        if os.environ.get("KLSS_REQUIRE_STOCKFISH") == "1":
            pytest.fail(f"{error}; and KLSS_REQUIRE_STOCKFISH=1 asks for one")
        pytest.skip(str(error))

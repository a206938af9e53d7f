"""Rooms and a browser for the tests of the page."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from klss_app.front import Front, front_of
from tests.klss_app.web.browsing import Board, Boards
from tests.klss_app.web.pages import settings
from uci_bridge.kits.fog import FOG


@pytest.fixture
def boards(chromium: Browser) -> Iterator[Boards]:
    """Makes rooms."""
    made: list[Board] = []

    def make(kind: Front | None = None, **changes: Any) -> Board:
        made.append(Board(chromium, settings(**changes), kind or front_of(FOG)))
        return made[-1]

    yield make
    for board in made:
        board.close()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Debian's; the tests are skipped where there is none, or fail if KLSS_REQUIRE_CHROMIUM=1."""
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        why = "no chromium is on PATH (Debian: apt-get install chromium)"
        if os.environ.get("KLSS_REQUIRE_CHROMIUM") == "1":
            pytest.fail(f"{why}; and KLSS_REQUIRE_CHROMIUM=1 asks for one")
        pytest.skip(why)
    expect.set_options(timeout=30_000)  # nothing here depends on how fast the machine is
    with sync_playwright() as playwright:
        shown = ["--hide-scrollbars"]  # what hides them in a browser without a window: they take room in one with
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"], ignore_default_args=shown)
        yield browser
        browser.close()

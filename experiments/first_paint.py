"""How soon the board is painted: ``python -m experiments.first_paint``.

Starts ``klss board`` as often as is asked, opens its link in an empty tab of a Chromium that runs already, and asks the
page when it was first painted. Reported are the seconds from the program's line with the link, and from the navigation.
(To open a tab besides takes this Chromium .3 s.) Needs Playwright (the extra ``dev``) and Chromium;
``results/first_paint.json``.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from experiments.series.runner import RESULTS, positive
from uci_bridge.match.documents import head, write_document
from uci_bridge.own_program import own_program

__all__ = ["main", "painted"]

_PAINT = "performance.getEntriesByName('first-contentful-paint').map(entry => entry.startTime)[0] ?? null"


def painted(browser: Any, folder: Path) -> tuple[float, float]:
    """Start a board and open it; seconds to its first paint from its line, and from the navigation."""
    page = browser.new_page()
    program = subprocess.Popen(
        own_program("klss", "board", "--no-open", "--port", "0", "--black", "random"),
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    try:
        assert program.stdout is not None
        line = program.stdout.readline()
        shown = time.time()
        link = re.search(r"http://\S+", line)
        if link is None:
            raise RuntimeError(f"klss board said {line!r}, expected its link")
        page.goto(link.group(), wait_until="commit")
        found = None
        while found is None:  # the page forbids that a text is run in it, so it can't wait by itself
            time.sleep(0.02)
            found = page.evaluate(_PAINT)
        after = found / 1e3
        began = page.evaluate("performance.timeOrigin") / 1e3
        page.close()
        return began + after - shown, after
    finally:
        program.send_signal(signal.SIGINT)
        program.wait(20)


def main(arguments: list[str] | None = None) -> int:
    """Measure and write; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repetitions", type=positive, default=10, metavar="N", help="(default 10)")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where first_paint.json is kept")
    parsed = parser.parse_args(arguments)
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        path = None
    if path is None:
        print("first_paint: needs Playwright (the extra dev) and Chromium", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="klss-paint-") as folder, sync_playwright() as playwright:
        flags = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=path, args=flags)
        found = [painted(browser, Path(folder)) for _ in range(parsed.repetitions + 1)][1:]  # the first one warms up
        browser.close()
    lines, navigations = (np.array(column) for column in zip(*found, strict=True))
    write_document(
        parsed.results / "first_paint.json",
        head("first_paint") | {"seconds_from_line": lines.tolist(), "seconds_from_navigation": navigations.tolist()},
    )
    for name, values in (("the program's line", lines), ("the navigation", navigations)):
        print(f"from {name}: {np.median(values):.2f} s (median; {values.min():.2f} to {values.max():.2f})")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""What works beside an experiment ends with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.alive import is_alive

BUSY = """
import os, time
from experiments.rbc_learn.processes import processes

def busy():
    print(os.getpid(), flush=True)
    time.sleep(600)

if __name__ == "__main__":
    processes(1).submit(busy).result()
"""


ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_worker_does_not_outlive_who_was_killed(number: signal.Signals, tmp_path: Path) -> None:
    script = tmp_path / "busy.py"
    script.write_text(BUSY, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True, env=environment) as program:
        assert program.stdout is not None
        worker = int(program.stdout.readline())
        assert is_alive(worker)
        program.send_signal(number)
        program.wait(timeout=20)
        for _ in range(200):
            if not is_alive(worker):
                break
            time.sleep(0.05)
        assert not is_alive(worker)

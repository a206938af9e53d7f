"""``klss about``: versions of the installation; with ``--weights`` how each packaged file of weights was made."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import llvmlite.binding

from klss.support.archive import read_arrays
from klss.support.inference import history_of
from klss_app.cli.options import Parser
from klss_app.flag_types import seed
from klss_app.stdout import print_document
from uci_bridge.match.documents import commit, package_versions


def _parser() -> Parser:
    parser = Parser("about", "Versions, and where the packaged weights come from.")
    parser.add_argument("--weights", action="store_true", help="the packaged files of weights, and how they were made")
    parser.add_argument("--seed", type=seed, metavar="N", help="accepted for uniformity; nothing here is random")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    return parser


def run(arguments: Sequence[str]) -> int:
    """Run ``klss about``; see :mod:`klss_app.cli.main`."""
    parsed = _parser().parse(arguments)
    found = weights() if parsed.weights else installation()
    if parsed.json:
        print_document(found)
    elif parsed.weights:
        for file, about in found.items():
            print(f"{file}  {about['bytes']:,} bytes  sha256 {about['sha256']}")
            for key, value in about["history"].items() or [("history", "not in the file; docs/sources.md has it")]:
                print(f"  {key}: {value if isinstance(value, str) else json.dumps(value)}")
    else:
        for key, value in found.items():
            print(
                f"{key}: "
                + (", ".join(f"{a} {b}" for a, b in value.items()) if isinstance(value, dict) else f"{value}")
            )
    return 0


def weights() -> dict[str, Any]:
    """Size, digest and history of each packaged file of weights, by its path in the package."""
    root, found = Path(str(resources.files("darkchess"))), {}
    for path in sorted([*root.rglob("data/*.onnx"), *root.rglob("data/*weights.npz"), *root.rglob("data/policy.npz")]):
        content = path.read_bytes()
        if path.suffix == ".onnx":
            history = history_of(content)
        else:
            said = read_arrays(path).get("history")
            history = {} if said is None else json.loads(bytes(said))
        digest = hashlib.sha256(content).hexdigest()
        name = f"darkchess/{path.relative_to(root).as_posix()}"
        found[name] = {"bytes": len(content), "sha256": digest, "history": history}
    return found


def installation() -> dict[str, Any]:
    """Versions and CPU: answers with a node budget depend on them, and a bug report needs them."""
    packages = ("numpy", "numba", "llvmlite", "scipy", "highspy", "chess", "aiohttp", "msgspec", "open_spiel")
    return {
        "versions": package_versions(*packages),
        "commit": commit(),
        "cpu": llvmlite.binding.get_host_cpu_name(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "machine": platform.machine(),
    }

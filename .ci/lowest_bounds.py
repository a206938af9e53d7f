"""Prints the lowest version of each package that pyproject.toml allows for an install with all experiments, as a
constraints file for pip. What those packages themselves need is left to pip."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
for requirement in project["dependencies"] + project["optional-dependencies"]["experiments"]:
    name, lowest = re.match(r"([\w.-]+(?:\[\w+\])?)>=([\d.]+)", requirement).groups()
    print(f"{name.partition('[')[0]}=={lowest}")

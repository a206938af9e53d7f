"""Prints, in one line, why no virtual environment for klss can be made from this Python; nothing where one can.

The Makefile asks it, with whatever Python there is: it has to run on old ones too, so no f-strings and no annotations.
"""

import sys

version = sys.version_info[:2]
name = sys.argv[1] if len(sys.argv) > 1 else sys.executable
if version < (3, 11):
    problem = "is Python %d.%d, klss needs 3.11 or newer: make PYTHON=/path/to/a/newer/python3" % version  # noqa: UP031
else:
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401

        problem = ""
    except ImportError:
        package = "python%d.%d-venv" % version  # noqa: UP031
        problem = "has no ensurepip and so can't make a virtual environment: install the package %s (Debian, Ubuntu: apt install %s)"  # noqa: E501
        problem %= (package, package)
if problem:
    print("%s %s" % (name, problem))  # noqa: UP031

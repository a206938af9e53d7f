"""``python -m klss``: the command line, found by name: this package stands on nothing."""

import sys
from importlib import import_module

if __name__ == "__main__":
    sys.exit(import_module("klss_app.cli.main").main())

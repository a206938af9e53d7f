"""``python -m klss``: the command line. It is imported by name, because this package depends on no other one."""

import sys
from importlib import import_module

if __name__ == "__main__":
    sys.exit(import_module("klss_app.cli.main").main())

"""``python -m klss``: the command line."""

import sys

from klss.cli.main import main

if __name__ == "__main__":
    sys.exit(main())

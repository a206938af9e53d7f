"""Running the command, as the command's own tests do."""

from tests.klss_app.conftest import cluster, klss

__all__ = ["cluster", "klss"]

"""What one player knows of a game of OpenSpiel: its observations, as OpenSpiel writes them, and its legal actions."""

from __future__ import annotations

from collections.abc import Mapping

from klss.openspiel.observations import Seen
from klss_app.known.known import Known


class OpenSpielKnown(Known[None, Seen, int]):
    """See :class:`klss_app.known.known.Known`; actions are typed by name or by number."""

    prompt = "your action: "
    _seen = Seen(0, "")

    def words(self, observation: Seen) -> str:
        self._seen = observation
        return observation.text

    def answers(self) -> Mapping[str, int]:
        return dict(zip(self._seen.names, self._seen.actions, strict=True))

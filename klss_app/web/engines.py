"""The engine at the board: a process of its own, which plays game after game."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from klss.play.kit import AnyKit
from klss_app.kept_games import Settings, shown_name
from klss_app.web.seats import AnyEngineAtBoard, AnyInbox, EngineAtBoard
from uci_bridge.evaluators import named
from uci_bridge.players import PlayerMaker, player_spec
from uci_bridge.protocol.host import AnyHosted, rehearse


class BoardEngine:
    """The engine's process, and what its games share. It ponders only where a clock runs. ``warmed`` is called, in a
    thread, once its compiled code is loaded.
    """

    def __init__(self, kit: AnyKit, settings: Settings, warmed: Callable[[], None]) -> None:
        assert settings.engine is not None
        spec = settings.engine
        self.warm = False  # whether its compiled code is loaded
        self._warmed = warmed
        self._kit = kit
        self._plays = _process_of(settings)
        self._usable = True  # until its process is ended during a search
        chosen = player_spec(kit, spec)
        self._maker = PlayerMaker(kit, chosen, settings.evaluator, ponders=settings.clock is not None)
        self._process = self._maker.process
        # names of its evaluator (None without one) and of the engine, as people read them
        self.evaluator = self._maker.label
        self.label = named(shown_name(spec), self.evaluator)
        self._last: tuple[AnyHosted, AnyEngineAtBoard] | None = None
        self._warming = threading.Thread(target=self._warm_up, daemon=True)
        self._warming.start()

    def plays(self, settings: Settings) -> bool:
        """Whether this process can play a game by these settings."""
        return self._usable and self._plays == _process_of(settings)

    def _warm_up(self) -> None:
        rehearse(self._process, self._kit.wire)
        self.warm = True
        self._warmed()

    @property
    def last_fault(self) -> str | None:
        """Its last fault in its last game."""
        return None if self._last is None else self._last[0].last_fault

    def wait_until_warm(self) -> None:
        """Wait until its compiled code is loaded; called by a game's thread."""
        self._warming.join()

    def player(self, seed: int, inbox: AnyInbox) -> AnyEngineAtBoard:
        """The engine as the player of one game."""
        hosted = self._maker.player(seed)
        self._last = hosted, EngineAtBoard(hosted, inbox, self.wait_until_warm)
        return self._last[1]

    async def quiet(self, *, loading_too: bool = False) -> None:
        """End the process if it still searches for a game that is over; with ``loading_too`` also if it still loads."""
        if self._last is not None and (self._last[1].thinking or (loading_too and self._warming.is_alive())):
            self._last[0].close()
            self._usable = False
            await asyncio.to_thread(self._process.kill)

    def close(self) -> None:
        """End the process, and stop the last game from asking it again; from any thread."""
        if self._last is not None:
            self._last[0].close()
        self._process.close()


def _process_of(settings: Settings) -> object:
    """What a process is made for: two games may share it where this is equal."""
    return settings.engine, settings.evaluator, settings.clock is not None

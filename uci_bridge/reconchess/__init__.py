"""The bridge to ``reconchess``, both ways: our players in its games, its players in ours.

Reading order: ``player`` (a configuration as a ``reconchess.Player``) and ``klss_bot`` (the same for its programs, by
path); ``bots`` (a text that names a bot of theirs) and ``child`` (the program in which it runs). docs/bot.md.

The package is an extra (``rbc``). Without it these modules can be imported, and raise an error when they are used.
"""

from uci_bridge.reconchess.bots import Foreign, foreign
from uci_bridge.reconchess.player import ReconchessPlayer

__all__ = ["Foreign", "ReconchessPlayer", "foreign"]

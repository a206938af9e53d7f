"""Processes and protocols around the player.

Reading order:

- ``errors`` one base, few leaves
- ``uci`` questions to UCI engines over raw pipes: pipelined, timed, restarted
- ``stockfish`` Stockfish as an evaluator, over UCI
- ``players`` a configuration made into a player, with the evaluator that it names
- ``lichess_dialect``, ``lichess`` what a lichess-style server says, checked; a client of it
- ``true_game`` the true game, on the far side of the wall
- ``bot_config``, ``bot_stream``, ``bot_game``, ``bot_seat``, ``bot_engine``, ``bot_record``, ``bot_log``, ``bot``
  the bot: its configuration, one game from stream to engine, what it keeps, and what holds it together

Import from the modules.
"""

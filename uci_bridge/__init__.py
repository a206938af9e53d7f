"""Processes and protocols around the player.

Reading order:

- ``errors`` one base, few leaves
- ``engine_environment``, ``own_process`` what engine processes get of our environment, and can't learn from us
- ``uci`` questions to UCI engines over raw pipes: pipelined, timed, restarted
- ``stockfish`` Stockfish as an evaluator, over UCI
- ``evaluators`` the evaluator that a configuration names
- ``messages``, ``lines``, ``diagnostics``, ``protocol`` the engine protocol: what is said, how it is cut, what of an
  engine's words is kept, how messages are read and written
- ``engine`` our player served on it
- ``descendants``, ``engine_process``, ``host`` any program that speaks it, run and hosted as a player
- ``players`` a text made into a player: a configuration's, or a foreign engine's command line
- ``lichess_dialect``, ``pychess_page``, ``lichess`` what a lichess-style server says, checked; a client of it
- ``true_game`` the true game, on the far side of the wall
- ``bot_config``, ``bot_stream``, ``bot_game``, ``bot_seat``, ``bot_engine``, ``bot_record``, ``bot_log``, ``bot``
  the bot: its configuration, one game from stream to engine, what it keeps, and what holds it together

Import from the modules.
"""

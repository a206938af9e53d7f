"""The front door. Only ``python -m klss`` and the entry point import it.

Reading order: ``cli`` (one file per command), ``analysis`` (the records of analysed games), ``bench`` (the figures of
``klss bench``), ``web`` (the board in the browser); shared by them: ``known`` (what one player knows of a game, and
says), ``front`` (how people see a game), ``puzzles`` (reading, and wording), ``kept_games`` (files of a human's games),
``progress`` (one line on stderr), ``stdout`` (reserved for a command's own output), ``flag_types`` (of numbers; of
experiments too).
"""

"""The front door. Nothing below imports it but ``python -m klss`` and the entry point.

Reading order: ``cli`` (one file a command), ``bench`` (the figures that ``klss bench`` shows), ``web`` (the board in
the browser); shared by them: ``view_events`` (what a view shows that the one before did not), ``rbc_spoken``
(Reconnaissance Blind Chess in words), ``puzzles`` (read, and put into words), ``annotated_pgn`` (an analysis as
comments), ``kept_games`` (where a human's games are kept), ``progress`` (one line on stderr), ``stdout`` (kept for what
a command has to say).
"""

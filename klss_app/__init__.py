"""The front door. Only ``python -m klss`` and the entry point import it.

Reading order: ``cli`` (one file per command), ``bench`` (the figures of ``klss bench``), ``web`` (the board in the
browser); shared by them: ``view_events`` (new facts in a view), ``rbc_spoken`` (Reconnaissance Blind Chess in words),
``puzzles`` (reading, and wording), ``kept_games`` (files of a human's games), ``progress`` (one line on stderr),
``stdout`` (reserved for a command's own output).
"""

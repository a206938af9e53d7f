"""The front door: ``cli`` (one file a command), ``bench`` (the figures that ``klss bench`` shows), ``progress`` (one
line on stderr). Nothing below imports it but ``python -m klss`` and the entry point.
"""

"""The front door: ``cli`` (one file a command) and ``bench`` (the figures that ``klss bench`` shows). Nothing imports
it but ``python -m klss`` and the entry point.
"""

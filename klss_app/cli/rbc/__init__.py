"""Commands that Reconnaissance Blind Chess alone has, or has in its own way; ``klss rbc X`` is ``klss X --game rbc``.

Commands: ``track``; ``analyse``; ``verify``; ``bench``.
"""

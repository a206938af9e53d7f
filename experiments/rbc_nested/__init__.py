"""The nested KLSS search on Reconnaissance Blind Chess, with what planning on synopses knows of the opponent: a bounded
experiment (docs/dsmcp.md).

Reading order: ``model`` (the game as :mod:`klss.search` sees it), ``player``, ``__main__`` (the matches).
"""

"""Sets of positions as a network sees them: summaries of a fixed size, and what they say for sure.

Reading order: ``synopsis``, ``forced``, ``worlds``, ``networks``.
"""

"""The synopsis of a set of positions, compiled: ``summary``, ``synopsis``; sure wins: ``forced``; playouts:
``members``, ``worlds``.
"""

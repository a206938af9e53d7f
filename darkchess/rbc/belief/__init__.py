"""The positions that a player can't rule out, and how likely they are.

Reading order: ``position_set``, ``senses`` (what a sense is worth before it is made), ``kinds`` (kinds of opponents and
the positions likely for each), ``tower`` (learned weights), ``anchors`` and ``siamese`` (those of a pair of networks).
"""

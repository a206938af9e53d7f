"""What a player holds possible.

Reading order: ``position_set``, ``senses`` (what a sense is worth before it is made), ``kinds`` (of opponents, and what
is likely for each), ``siamese`` (learned weights).
"""

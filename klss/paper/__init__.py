"""Zhang & Sandholm, Subgame solving without common knowledge (NeurIPS 2021): subgames of games that fit into memory.

Reading order: ``knowledge`` (knowledge sets), ``methods`` (names of subgames and gadgets), ``subgame`` (a subgame as a
game), ``selection`` (a gadget's sequence form and the choice among its optima), ``nested`` (nested subgames in three
ways), ``tables`` (the paper's tables, one row at a time).
"""

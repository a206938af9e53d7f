"""Players of Fog of War, and their configurations.

Reading order: ``tracking`` (views and a position set; the random player), ``model`` (dark chess as the search sees it),
``book`` (an opening book), ``player`` (the engine), ``one_position`` (single-guess players), ``named_fog_players``.
"""

"""What a player could know: ``principal_lines``, ``analyst``; ``whole_game`` and ``once_over`` hold it against the
truth.
"""

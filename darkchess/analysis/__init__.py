"""What a player could know: ``principal_lines``, ``analyst``; ``once_over`` holds it against the truth."""

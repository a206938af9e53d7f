"""What a player holds possible."""

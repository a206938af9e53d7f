"""What requests lead to, compiled."""

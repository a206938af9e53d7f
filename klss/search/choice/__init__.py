"""What is played of the mixture that was found."""

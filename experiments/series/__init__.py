"""Series of matches.

Reading order: ``catalogue`` (which there are), ``runner`` (plays and resumes them), ``blind`` (those of Reconnaissance
Blind Chess), ``summary`` (boils them down to JSON), ``processes`` (that end with this one).
"""

"""Series of matches.

Reading order: ``processes`` (that end with this one), ``runner`` (plays and resumes them), ``blind`` (those of
Reconnaissance Blind Chess), ``summary`` (boils them down to JSON).
"""

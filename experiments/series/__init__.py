"""Series of matches.

Reading order: ``catalogue`` (all series), ``runner`` (plays and resumes them), ``blind`` (those of Reconnaissance Blind
Chess), ``summary`` (sums them up as JSON), ``processes`` (worker processes that end with this one).
"""

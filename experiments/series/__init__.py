"""Series of matches: ``runner`` plays and resumes them, ``summary`` boils them down to JSON."""

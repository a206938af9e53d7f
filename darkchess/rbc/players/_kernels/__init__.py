"""What requests lead to, compiled.

Reading order: ``families``.
"""

"""The positions after requests, compiled.

Reading order: ``families``.
"""

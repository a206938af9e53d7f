"""The part of the command line for Reconnaissance Blind Chess only.

Reading order: ``track``; ``analyse``.
"""

"""Compiled code of the analysis.

Reading order: ``sure`` (the material that moves surely win).
"""

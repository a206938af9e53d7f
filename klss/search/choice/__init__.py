"""The action that is played of the mixture that was found.

Reading order: ``mixture`` (as it is), ``purification`` (its stable part).
"""

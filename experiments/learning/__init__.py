"""The common part of studies that learn; data and models are in each study.

Reading order: ``split`` (which games train, validate and test), ``games`` (of a match), ``fit`` (JAX, a step of Adam,
slow averages), ``checkpoints`` (the state of a training in a file).
"""

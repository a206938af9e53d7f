"""The common part of studies that learn; data and models are in each study.

Reading order: ``kinds`` (of players whose games are used), ``split`` (which games train,
validate and test), ``games`` (of a match), ``shards`` (games played block by block into files), ``processes`` (workers
that end with this program),
``fit`` (JAX, a step of Adam, slow averages), ``checkpoints`` (the state of a training in a file).
"""

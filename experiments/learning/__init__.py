"""What studies that learn have in common; data and models are each study's own.

Reading order: ``kinds`` (of players whose games are learned from), ``split`` (which games train,
validate and test), ``shards`` (games played block by block into files),
``fit`` (JAX, a step of Adam, slow averages), ``checkpoints`` (a training kept in a file).
"""

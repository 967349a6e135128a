"""Functions made of functions: derivatives, batches, checkpoints, loops, and rules of the user's own."""

"""`jit`: functions traced once for each kind of call; what a trace read, and when it still fits."""

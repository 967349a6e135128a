"""What programs run on: memory, threads, machine code and its cache, signals, and the libraries that are called."""

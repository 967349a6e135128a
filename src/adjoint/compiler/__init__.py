"""From a plan to the code of its kernels. `pipeline` is the list of stages, read like a table of contents.

`fuse` groups a plan's steps into units: loop nests, matrix products, windows, moves and host steps. `schedule` decides how each
runs, `loops` writes it as loops, and `targets` says what a processor is like and renders loops for it. `linking` finds the code
of a unit again by what it depends on. `docs/compiler.md` has each stage as printed.
"""

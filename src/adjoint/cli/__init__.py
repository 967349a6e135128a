"""The command line: `adjoint train mnist-mlp`, `adjoint --help`."""

from .command import main

__all__ = ["main"]

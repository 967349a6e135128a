"""Programs that people learn PyTorch from, run unchanged under `adjoint.torch` and under PyTorch itself."""

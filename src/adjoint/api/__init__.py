"""What needs both tensors and transforms."""

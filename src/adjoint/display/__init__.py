"""Tensors as pictures, pages and widgets."""

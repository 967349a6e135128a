"""Functions of nodes composed from primitives."""

from adjoint.composites import indexing, products, reductions, shaping

__all__ = ["indexing", "products", "reductions", "shaping"]

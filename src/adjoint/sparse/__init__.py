"""Sparse Jacobians and Hessians: the pattern from the graph, coloured, and the compressed derivative in one compiled program."""

from __future__ import annotations

from adjoint.sparse.derivatives import sparse_hessian, sparse_jacobian

__all__ = ["sparse_hessian", "sparse_jacobian"]

"""NumPy's functions of its main namespace with NumPy's own arguments, for tensors handed to them and as `adjoint.numpy`."""

from __future__ import annotations

from adjoint.numpy import elementwise, in_place, products, reducing, searching, shaping
from adjoint.numpy.table import FUNCTIONS

__all__ = ["FUNCTIONS", "elementwise", "in_place", "products", "reducing", "searching", "shaping"]

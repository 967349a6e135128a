"""Taylor mode: derivatives of high order along a curve, by arithmetic on truncated power series."""

from __future__ import annotations

from adjoint.series.jets import jet, taylor

__all__ = ["jet", "taylor"]

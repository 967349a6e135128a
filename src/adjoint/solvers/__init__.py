"""Solvers whose results differentiate: roots, fixed points, minima, differential equations."""

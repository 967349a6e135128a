"""Draws from a density, and approximations of it.

>>> import adjoint as ad
>>> ad.sample.nuts(lambda x: -0.5 * x**2, 0.0, draws=100, warmup=100).values.shape
(4, 100)
"""

from __future__ import annotations

from adjoint.sample.approximations import Approximation, laplace, variational
from adjoint.sample.chains import hmc, nuts
from adjoint.sample.diagnostics import effective_sample_size, r_hat
from adjoint.sample.draws import Draws

__all__ = ["Approximation", "Draws", "effective_sample_size", "hmc", "laplace", "nuts", "r_hat", "variational"]

"""Distributions: densities, distribution functions and their inverses, draws that differentiate, entropies, divergences.

Parameters have PyTorch's names. They are checked where their values are known; values outside of the support have log density
-inf. Special functions' values come from SciPy, the extra `adjoint[science]`.
"""

from __future__ import annotations

from adjoint.hints import hinted_module
from adjoint.stats.base import Distribution
from adjoint.stats.compound import Mixture, Transformed, Truncated
from adjoint.stats.continuous import (
    Beta,
    Exponential,
    Gamma,
    HalfNormal,
    InverseGamma,
    StudentT,
    Uniform,
    VonMises,
    Weibull,
)  # fmt: skip
from adjoint.stats.discrete import (
    Bernoulli,
    Binomial,
    Categorical,
    Geometric,
    Multinomial,
    NegativeBinomial,
    Poisson,
)  # fmt: skip
from adjoint.stats.divergence import kl_divergence
from adjoint.stats.location_scale import Cauchy, Gumbel, Laplace, Logistic, LogNormal, Normal
from adjoint.stats.multivariate import Dirichlet, MultivariateNormal
from adjoint.stats.transforms import Affine, Bijection, Exp, Power, Sigmoid, Softplus, Tanh

__all__ = [
    "Affine", "Bernoulli", "Beta", "Bijection", "Binomial", "Categorical", "Cauchy", "Dirichlet", "Distribution", "Exp",
    "Exponential", "Gamma", "Geometric", "Gumbel", "HalfNormal", "InverseGamma", "Laplace", "LogNormal", "Logistic",
    "Mixture", "Multinomial", "MultivariateNormal", "NegativeBinomial", "Normal", "Poisson", "Power", "Sigmoid", "Softplus",
    "StudentT", "Tanh", "Transformed", "Truncated", "Uniform", "VonMises", "Weibull", "kl_divergence",
]  # fmt: skip


__getattr__ = hinted_module("adjoint.stats")

"""Distributions of vectors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import adjoint.tensors.functions as f
from adjoint import linalg, special
from adjoint.random import source
from adjoint.stats import draws
from adjoint.stats.base import Distribution, checked, inside
from adjoint.tensors.located import at_user
from adjoint.tensors.tensor import Tensor

__all__ = ["Dirichlet", "MultivariateNormal"]


class _Vectors(Distribution):
    event_dims = 1

    def icdf(self, p: Any) -> Tensor:
        raise self._missing("icdf")


class MultivariateNormal(_Vectors):
    """The normal distribution of vectors of a mean `loc` (..., n) and one of: a covariance matrix (..., n, n), a precision
    matrix, its inverse, or `scale_tril`, the covariance's lower Cholesky factor. A matrix that is known and not
    symmetric, or a factor with anything above its diagonal, is a ValueError.

    >>> import adjoint as ad
    >>> d = ad.stats.MultivariateNormal(ad.zeros(2), [[2.0, 1.0], [1.0, 2.0]])
    >>> d.log_prob(ad.zeros(2))
    Tensor(-2.3872)
    """

    names = ("loc", "scale_tril")
    loc: Tensor
    scale_tril: Tensor

    def __init__(
        self, loc: Any, covariance_matrix: Any = None, precision_matrix: Any = None, scale_tril: Any = None
    ) -> None:
        given = [m for m in (covariance_matrix, precision_matrix, scale_tril) if m is not None]
        if len(given) != 1:
            raise ValueError(
                f"MultivariateNormal: give one of covariance_matrix, precision_matrix and scale_tril{at_user()}"
            )
        loc, matrix = draws.floating(loc, given[0])
        if loc.ndim < 1 or matrix.ndim < 2 or matrix.shape[-2:] != (loc.shape[-1],) * 2:
            raise ValueError(
                f"MultivariateNormal: a mean of shape {loc.shape} and a matrix of {matrix.shape}{at_user()}"
            )
        self.loc = checked("MultivariateNormal", loc, "loc", "real")
        self._check(matrix, scale_tril is not None)
        if covariance_matrix is not None:
            matrix = linalg.cholesky(matrix)
        elif (
            precision_matrix is not None
        ):  # of a matrix with its axes reversed: the inverse of that factor is lower again
            reversed_factor = linalg.cholesky(f.flip(matrix, axis=(-2, -1)))
            inverse = f.flip(linalg.matrix_transpose(reversed_factor), axis=(-2, -1))
            matrix = linalg.solve_triangular(inverse, f.eye(loc.shape[-1], dtype=loc.dtype), lower=True)
        self.scale_tril = matrix

    @staticmethod
    def _check(matrix: Tensor, factor: bool) -> None:
        known = matrix.node.value
        if known is None:
            return
        values = np.asarray(known)
        if factor and np.triu(values, 1).any():
            raise ValueError(f"MultivariateNormal: scale_tril is lower triangular{at_user()}")
        flipped, largest = np.swapaxes(values, -1, -2), np.max(abs(values), initial=0.0)
        if not factor and not np.allclose(values, flipped, rtol=1e-4, atol=1e-6 * largest, equal_nan=True):
            raise ValueError(f"MultivariateNormal: the matrix isn't symmetric{at_user()}")

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return tuple(np.broadcast_shapes(self.loc.shape[:-1], self.scale_tril.shape[:-2]))

    @property
    def event_shape(self) -> tuple[int, ...]:
        return (self.loc.shape[-1],)

    @property
    def covariance_matrix(self) -> Tensor:
        """The covariance matrix."""
        return self.scale_tril @ linalg.matrix_transpose(self.scale_tril)

    @property
    def _log_det(self) -> Tensor:
        """The logarithm of the determinant of the factor."""
        return f.log(linalg.diagonal(self.scale_tril)).sum(axis=-1)

    def log_prob(self, x: Any) -> Tensor:
        away = (self._value(x) - self.loc)[..., None]
        z = linalg.solve_triangular(self.scale_tril, away, lower=True)[..., 0]
        return -0.5 * ((z * z).sum(axis=-1) + self.loc.shape[-1] * math.log(2 * math.pi)) - self._log_det

    def entropy(self) -> Tensor:
        n = self.loc.shape[-1]
        return f.broadcast_to(self._log_det + 0.5 * n * (1 + math.log(2 * math.pi)), self.batch_shape)

    @property
    def mean(self) -> Tensor:
        return f.broadcast_to(self.loc, (*self.batch_shape, *self.event_shape))

    @property
    def variance(self) -> Tensor:
        return f.broadcast_to((self.scale_tril**2).sum(axis=-1), (*self.batch_shape, *self.event_shape))

    def _draw(self, shape: tuple[int, ...], key: Any) -> Tensor:
        noise = source(key).normal(shape, dtype=self.dtype)
        return self.loc + (self.scale_tril @ noise[..., None])[..., 0]


class Dirichlet(_Vectors):
    """The Dirichlet distribution of vectors of probabilities, by concentrations (..., n).

    >>> import adjoint as ad
    >>> ad.stats.Dirichlet([1.0, 1.0]).log_prob([0.3, 0.7])
    Tensor(0.)
    """

    names = ("concentration",)
    concentration: Tensor

    def __init__(self, concentration: Any) -> None:
        self._set("positive", concentration=concentration)
        if self.concentration.ndim < 1:
            raise ValueError(f"Dirichlet: concentrations are a vector, got one number{at_user()}")

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return tuple(self.concentration.shape[:-1])

    @property
    def event_shape(self) -> tuple[int, ...]:
        return (self.concentration.shape[-1],)

    def log_prob(self, x: Any) -> Tensor:
        x, a = self._value(x), self.concentration
        tolerance = 1e-4 if self.dtype.dtype.itemsize == 4 else 1e-8
        good = (x >= 0).all(axis=-1) & (abs(x.sum(axis=-1) - 1) < tolerance)
        norm = special.gammaln(a).sum(axis=-1) - special.gammaln(a.sum(axis=-1))
        return inside(good, special.xlogy(a - 1, f.maximum(x, 0.0)).sum(axis=-1) - norm, x.sum(axis=-1))

    def entropy(self) -> Tensor:
        a = self.concentration
        total, n = a.sum(axis=-1), a.shape[-1]
        norm = special.gammaln(a).sum(axis=-1) - special.gammaln(total)
        return norm + (total - n) * special.digamma(total) - ((a - 1) * special.digamma(a)).sum(axis=-1)

    @property
    def mean(self) -> Tensor:
        return self.concentration / self.concentration.sum(axis=-1, keepdims=True)

    @property
    def variance(self) -> Tensor:
        total = self.concentration.sum(axis=-1, keepdims=True)
        return self.mean * (1 - self.mean) / (total + 1)

    def _draw(self, shape: tuple[int, ...], key: Any) -> Tensor:
        return draws.dirichlet(self.concentration, shape[: len(shape) - self.concentration.ndim], key=key)

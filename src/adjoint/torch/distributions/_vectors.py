"""Distributions of vectors and matrices."""

from __future__ import annotations

import math
from typing import Any

from adjoint import stats
from adjoint.tensors.located import at_user

from . import constraints
from ._base import LOG_2PI, Computed, Distribution, ExponentialFamily
from ._numbers import Beta, Chi2
from ._program import torch

__all__ = ["Dirichlet", "LKJCholesky", "LowRankMultivariateNormal", "MultivariateNormal", "Wishart"]


class Dirichlet(Computed, ExponentialFamily):
    """The Dirichlet distribution of vectors of probabilities."""

    core, names, parameters = stats.Dirichlet, ("concentration",), {"concentration": 1}
    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support, has_rsample = constraints.simplex, True

    def __init__(self, concentration: Any, validate_args: Any = None) -> None:
        if concentration.dim() < 1:
            raise ValueError(f"Dirichlet: concentration must have an axis of classes{at_user()}")
        self.concentration = concentration
        shape = concentration.shape
        Distribution.__init__(self, shape[:-1], shape[-1:], validate_args)

    @property
    def mode(self) -> Any:
        """(a - 1) / sum(a - 1), at least 0; where all are below 1, the class of the largest."""
        above = (self.concentration - 1).clamp(min=0.0)
        mode = above / above.sum(-1, True)
        flat = (self.concentration < 1).all(dim=-1, keepdim=True)
        corner = torch.nn.functional.one_hot(mode.argmax(dim=-1), self.event_shape[-1]).to(mode.dtype)
        return torch.where(flat, corner, mode)


def log_det(factor: Any) -> Any:
    """The logarithm of the determinant of a triangular matrix."""
    return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def whitened(factor: Any, away: Any) -> Any:
    """The solution of factor · z = away, for vectors."""
    return torch.linalg.solve_triangular(factor, away.unsqueeze(-1), upper=False).squeeze(-1)


def factor_of_inverse(matrix: Any) -> Any:
    """The lower Cholesky factor of a matrix's inverse: the inverse of its factor with the axes reversed is lower again."""
    reversed_factor = torch.linalg.cholesky(torch.flip(matrix, (-2, -1)))
    upper = torch.flip(reversed_factor, (-2, -1)).mT
    unit = torch.eye(matrix.shape[-1], dtype=matrix.dtype)
    return torch.linalg.solve_triangular(upper, unit, upper=False)


class _ByMatrix(Distribution):
    """With one of a covariance matrix, a precision matrix, and the lower factor of the former."""

    MATRICES = ("covariance_matrix", "precision_matrix", "scale_tril")

    def _choose(self, name: str, given: dict[str, Any]) -> tuple[str, Any]:
        chosen = [(k, v) for k, v in given.items() if v is not None]
        if len(chosen) != 1:
            raise ValueError(f"{name}: give exactly one of {', '.join(self.MATRICES)}{at_user()}")
        if chosen[0][1].dim() < 2:
            raise ValueError(f"{name}: {chosen[0][0]} must be a matrix, or a batch of them{at_user()}")
        self._derived = tuple(k for k in self.MATRICES if k != chosen[0][0])
        return chosen[0]

    def _factor(self) -> Any:
        for name in self.MATRICES:
            matrix = self.__dict__.get(name)
            if matrix is not None:
                if name == "scale_tril":
                    return matrix
                return torch.linalg.cholesky(matrix) if name == "covariance_matrix" else factor_of_inverse(matrix)
        raise AttributeError("scale_tril")

    def __getattr__(self, name: str) -> Any:
        if name == "scale_tril":
            return self._factor()
        if name == "covariance_matrix":
            return self.scale_tril @ self.scale_tril.mT
        if name == "precision_matrix":
            return torch.cholesky_inverse(self.scale_tril)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


class MultivariateNormal(_ByMatrix, Computed):
    """The normal distribution of vectors."""

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    core, names = stats.MultivariateNormal, ("loc", "scale_tril")
    support, has_rsample = constraints.real_vector, True

    def __init__(
        self,
        loc: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: Any = None,
    ) -> None:
        if loc.dim() < 1:
            raise ValueError(f"MultivariateNormal: loc must be a vector, or a batch of them{at_user()}")
        given = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril}
        name, matrix = self._choose("MultivariateNormal", given)
        batch = torch.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand((*batch, *matrix.shape[-2:])))
        self.loc = loc.expand((*batch, loc.shape[-1]))
        self.parameters = {"loc": 1, name: 2}
        Distribution.__init__(self, batch, loc.shape[-1:], validate_args)

    @property
    def mean(self) -> Any:
        """The location."""
        return self.loc

    @property
    def mode(self) -> Any:
        """The location."""
        return self.loc


class LowRankMultivariateNormal(Distribution):
    """The normal distribution of vectors whose covariance matrix is W Wᵀ + D: few columns W and a diagonal D. Systems are solved
    by the capacitance matrix I + Wᵀ D⁻¹ W (M. Woodbury).
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support, has_rsample = constraints.real_vector, True
    parameters = {"loc": 1, "cov_factor": 2, "cov_diag": 1}

    def __init__(self, loc: Any, cov_factor: Any, cov_diag: Any, validate_args: Any = None) -> None:
        event = loc.shape[-1:]
        if loc.dim() < 1 or cov_factor.dim() < 2 or cov_factor.shape[-2:-1] != event or cov_diag.shape[-1:] != event:
            raise ValueError(
                f"LowRankMultivariateNormal: loc {tuple(loc.shape)}, cov_factor {tuple(cov_factor.shape)} and cov_diag "
                f"{tuple(cov_diag.shape)} don't fit (n), (n, rank) and (n){at_user()}"
            )
        batch = torch.broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        self.loc, self.cov_diag = loc.expand((*batch, *event)), cov_diag.expand((*batch, *event))
        self.cov_factor = cov_factor.expand((*batch, *cov_factor.shape[-2:]))
        Distribution.__init__(self, batch, event, validate_args)

    def _capacitance(self) -> Any:
        scaled = self.cov_factor / self.cov_diag.unsqueeze(-1)
        inner = self.cov_factor.mT @ scaled
        return torch.linalg.cholesky(inner + torch.eye(inner.shape[-1], dtype=inner.dtype))

    @property
    def covariance_matrix(self) -> Any:
        """W Wᵀ + D."""
        return self.cov_factor @ self.cov_factor.mT + torch.diag_embed(self.cov_diag)

    @property
    def scale_tril(self) -> Any:
        """Its lower factor."""
        return torch.linalg.cholesky(self.covariance_matrix)

    @property
    def precision_matrix(self) -> Any:
        """Its inverse."""
        scaled = self.cov_factor.mT / self.cov_diag.unsqueeze(-2)
        a = torch.linalg.solve_triangular(self._capacitance(), scaled, upper=False)
        return torch.diag_embed(1 / self.cov_diag) - a.mT @ a

    def _log_det(self, capacitance: Any) -> Any:
        return 2 * log_det(capacitance) + self.cov_diag.log().sum(-1)

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draws that differentiate by the parameters."""
        shape = self._extended_shape(sample_shape)
        narrow = torch.randn((*shape[:-1], self.cov_factor.shape[-1]), dtype=self.loc.dtype)
        wide = torch.randn(shape, dtype=self.loc.dtype)
        return self.loc + (self.cov_factor @ narrow.unsqueeze(-1)).squeeze(-1) + self.cov_diag.sqrt() * wide

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        away = self._checked(value) - self.loc
        capacitance = self._capacitance()
        across = (self.cov_factor.mT @ (away / self.cov_diag).unsqueeze(-1)).squeeze(-1)
        squares = (away.square() / self.cov_diag).sum(-1) - whitened(capacitance, across).square().sum(-1)
        return -0.5 * (self.event_shape[0] * LOG_2PI + self._log_det(capacitance) + squares)

    def entropy(self) -> Any:
        """The expectation of -log_prob."""
        return 0.5 * (self.event_shape[0] * (1 + LOG_2PI) + self._log_det(self._capacitance()))

    @property
    def mean(self) -> Any:
        """The location."""
        return self.loc

    @property
    def mode(self) -> Any:
        """The location."""
        return self.loc

    @property
    def variance(self) -> Any:
        """The diagonal of the covariance matrix."""
        return self.cov_factor.square().sum(-1) + self.cov_diag


class Wishart(_ByMatrix, ExponentialFamily):
    """The Wishart distribution of matrices, of degrees of freedom and a scale matrix (its `covariance_matrix`)."""

    arg_constraints = {
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
        "df": constraints.greater_than(0),
    }
    support, has_rsample = constraints.positive_definite, True

    def __init__(
        self,
        df: Any,
        covariance_matrix: Any = None,
        precision_matrix: Any = None,
        scale_tril: Any = None,
        validate_args: Any = None,
    ) -> None:
        given = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril}
        name, matrix = self._choose("Wishart", given)
        df = torch.as_tensor(df, dtype=matrix.dtype)
        batch = torch.broadcast_shapes(matrix.shape[:-2], df.shape)
        event = matrix.shape[-2:]
        setattr(self, name, matrix.expand((*batch, *event)))
        self.df = df.expand(batch)
        self.parameters = {"df": 0, name: 2}
        if bool((self.df <= event[-1] - 1).detach().any()):
            raise ValueError(f"Wishart: df must be above n - 1, which is {event[-1] - 1}{at_user()}")
        Distribution.__init__(self, batch, event, validate_args)

    @property
    def _n(self) -> int:
        return int(self.event_shape[-1])

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Draws that differentiate by the parameters, by the decomposition of M. Bartlett."""
        n, shape = self._n, tuple(self._extended_shape(sample_shape))
        freedom = self.df.unsqueeze(-1) - torch.arange(n, dtype=self.df.dtype)
        diagonal = Chi2(freedom, validate_args=False).rsample(sample_shape).sqrt()
        inner = torch.diag_embed(diagonal) + torch.randn(shape, dtype=self.df.dtype).tril(-1)
        factor = self.scale_tril @ inner
        return factor @ factor.mT

    def _log_gamma(self) -> Any:
        return torch.mvlgamma(0.5 * self.df, self._n)

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        value = self._checked(value)
        n, factor = self._n, self.scale_tril
        norm = self.df * (0.5 * n * math.log(2.0) + log_det(factor)) + self._log_gamma()
        traces = torch.cholesky_solve(value, factor).diagonal(dim1=-2, dim2=-1).sum(-1)
        return 0.5 * (self.df - n - 1) * torch.linalg.slogdet(value)[1] - 0.5 * traces - norm

    def entropy(self) -> Any:
        """The expectation of -log_prob."""
        n = self._n
        places = 0.5 * (self.df.unsqueeze(-1) - torch.arange(n, dtype=self.df.dtype))
        digammas = torch.digamma(places).sum(-1)
        return (
            (n + 1) * (log_det(self.scale_tril) + 0.5 * n * math.log(2.0))
            + self._log_gamma()
            - 0.5 * (self.df - n - 1) * digammas
            + 0.5 * n * self.df
        )

    @property
    def mean(self) -> Any:
        """df · covariance_matrix."""
        return self.df.view((*self.batch_shape, 1, 1)) * self.covariance_matrix

    @property
    def mode(self) -> Any:
        """(df - n - 1) · covariance_matrix; NaN where that is no positive matrix."""
        factor = self.df - self._n - 1
        factor = torch.where(factor <= 0, math.nan, factor)
        return factor.view((*self.batch_shape, 1, 1)) * self.covariance_matrix

    @property
    def variance(self) -> Any:
        """df · (V² + d dᵀ) of the scale matrix V and its diagonal d, elementwise."""
        v = self.covariance_matrix
        d = v.diagonal(dim1=-2, dim2=-1)
        return self.df.view((*self.batch_shape, 1, 1)) * (v.square() + d.unsqueeze(-1) * d.unsqueeze(-2))


class LKJCholesky(Distribution):
    """Lower Cholesky factors of correlation matrices, whose density is a power of the determinant (D. Lewandowski, D. Kurowicka
    and H. Joe, 2009): draws by their onion method.
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky
    parameters = {"concentration": 0}

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: Any = None) -> None:
        if dim < 2:
            raise ValueError(f"LKJCholesky: dim must be at least 2, not {dim}{at_user()}")
        self.dim = dim
        self.concentration = torch.as_tensor(concentration)
        Distribution.__init__(self, self.concentration.shape, (dim, dim), validate_args)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Draws, as constants to every derivative."""
        with torch.no_grad():
            return self._drawn(sample_shape).detach()

    def _drawn(self, sample_shape: Any) -> Any:
        rows = torch.arange(self.dim - 1, dtype=self.concentration.dtype)
        first = torch.cat([rows.new_zeros((1,)), rows + 0.5])
        second = self.concentration.unsqueeze(-1) + 0.5 * (self.dim - 2)
        second = second - 0.5 * torch.cat([rows.new_zeros((1,)), rows])
        lengths = Beta(first.clamp(min=0.5), second, validate_args=False).sample(sample_shape).unsqueeze(-1)
        normals = torch.randn(self._extended_shape(sample_shape), dtype=self.concentration.dtype).tril(-1)
        sphere = normals / normals.norm(dim=-1, keepdim=True)
        below = torch.where(torch.arange(self.dim).view(-1, 1) == 0, 0.0, lengths.sqrt() * sphere)
        tiny = torch.finfo(below.dtype).tiny
        return below + torch.diag_embed((1 - below.square().sum(-1)).clamp(min=tiny).sqrt())

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density."""
        value = self._checked(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - torch.arange(2, self.dim + 1)
        powers = (order * diagonal.log()).sum(-1)
        n = self.dim - 1
        alpha = self.concentration + 0.5 * n
        norm = 0.5 * n * math.log(math.pi) + torch.mvlgamma(alpha - 0.5, n) - torch.lgamma(alpha) * n
        return powers - norm

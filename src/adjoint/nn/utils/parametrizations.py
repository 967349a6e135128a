"""Parametrizations: a weight by its length and direction, of spectral norm one, or orthogonal."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint import linalg, random
from adjoint.nn.convolution import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from adjoint.nn.functional import normalize
from adjoint.nn.lazy import refuse_lazy
from adjoint.nn.module import Module
from adjoint.tensors import Tensor
from adjoint.tensors.functions import asarray, concat, eye, sqrt, square, sum, tril, zeros
from adjoint.tensors.located import at_user
from adjoint.transforms.modes import no_grad

from .parametrize import register_parametrization

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]

MAPS = ("matrix_exp", "cayley", "householder")


def _weight(function: str, module: Module, name: str) -> Tensor:
    weight = getattr(module, name, None)
    refuse_lazy(function, module)
    if not isinstance(weight, Tensor):
        raise ValueError(f"{function}: {type(module).__name__} has no parameter or buffer {name!r}{at_user()}")
    return weight


class _WeightNorm(Module):
    """The length for each slice along an axis (of the whole tensor for None), times the direction."""

    def __init__(self, dim: int | None) -> None:
        self.dim = dim

    def forward(self, length: Tensor, direction: Tensor) -> Tensor:
        """The weight."""
        return direction * (length / self._length(direction))

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        """The length and direction of a weight."""
        return self._length(weight), weight

    def _length(self, weight: Tensor) -> Tensor:
        if self.dim is None or self.dim == -1:
            return sqrt(sum(square(weight)))
        axes = tuple(k for k in range(weight.ndim) if k != self.dim % weight.ndim)
        return sqrt(sum(square(weight), axis=axes, keepdims=True))


def weight_norm(module: Module, name: str = "weight", dim: int | None = 0) -> Module:
    """Train a weight by its length and its direction (T. Salimans and D. Kingma, 2016): w = g v / ‖v‖; gives the module back.

    The norm is over all axes but `dim`, or with None over all. `parametrizations.weight.original0` is g, `original1` v. Raises
    ValueError where the module has no such weight, IndexError where that has no such axis.

    >>> import adjoint as ad
    >>> layer = ad.nn.utils.parametrizations.weight_norm(ad.nn.Linear(2, 3))
    >>> [(name, p.shape) for name, p in layer.named_parameters()][1:]
    [('parametrizations.weight.original0', (3, 1)), ('parametrizations.weight.original1', (3, 2))]
    """
    rank = _weight("weight_norm", module, name).ndim
    if dim is not None and not -rank <= dim < rank:
        raise IndexError(f"weight_norm: {name} has {rank} axes; there is no {dim}{at_user()}")
    return register_parametrization(module, name, _WeightNorm(dim), unsafe=True)


class _SpectralNorm(Module):
    """A weight divided by an estimate of its largest singular value; see `spectral_norm`."""

    _u: Tensor
    _v: Tensor

    def __init__(self, weight: Tensor, n_power_iterations: int, dim: int, eps: float) -> None:
        if not -weight.ndim <= dim < weight.ndim:
            raise IndexError(f"spectral_norm: the weight of shape {weight.shape} has no axis {dim}{at_user()}")
        if n_power_iterations < 1:
            raise ValueError(f"spectral_norm: n_power_iterations must be positive, not {n_power_iterations}{at_user()}")
        self.dim = dim % weight.ndim
        self.n_power_iterations = n_power_iterations
        self.eps = eps
        if weight.ndim > 1:
            matrix = self._matrix(weight.detach())
            for key, size in zip(("_u", "_v"), matrix.shape, strict=True):
                self.register_buffer(key, normalize(random.normal((size,), dtype=matrix.dtype), dim=0, eps=eps))
            self._iterate(matrix, 15)

    def _matrix(self, weight: Tensor) -> Tensor:
        """The weight as a matrix whose rows are the slices along `dim`."""
        others = [k for k in range(weight.ndim) if k != self.dim]
        return weight.permute_dims(self.dim, *others).reshape(weight.shape[self.dim], -1)

    @no_grad()
    def _iterate(self, matrix: Tensor, times: int) -> None:
        """Power iteration for the first singular vectors."""
        u, v = self._u, self._v
        for _ in range(times):
            u = normalize(matrix @ v, dim=0, eps=self.eps)
            v = normalize(matrix.mT @ u, dim=0, eps=self.eps)
        self._u.data, self._v.data = u, v

    def forward(self, weight: Tensor) -> Tensor:
        """The weight divided by the estimate u·(W v)."""
        if weight.ndim == 1:
            return normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._iterate(matrix.detach(), self.n_power_iterations)
        return weight / sum(self._u.detach() * (matrix @ self._v.detach()))

    def right_inverse(self, weight: Tensor) -> Tensor:
        """The weight itself, taken to have norm one."""
        return weight


def spectral_norm(
    module: Module, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Module:
    """Divide a weight by its largest singular value (T. Miyato and others, 2018); gives the module back.

    The weight is taken as a matrix with `dim` in front (0; 1 for transposed convolutions). Whenever it is read in training mode,
    `n_power_iterations` steps of power iteration improve the buffers `_u` and `_v`, from which the singular value is estimated.
    Raises ValueError where the module has no such weight, IndexError for a wrong axis.

    >>> import adjoint as ad
    >>> ad.random.seed(0)
    >>> layer = ad.nn.utils.parametrizations.spectral_norm(ad.nn.Linear(4, 3), n_power_iterations=20)
    >>> abs(ad.linalg.norm(layer.weight, 2).item() - 1) < 1e-3
    True
    """
    weight = _weight("spectral_norm", module, name)
    if dim is None:
        dim = 1 if isinstance(module, ConvTranspose1d | ConvTranspose2d | ConvTranspose3d) else 0
    return register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))


class _Orthogonal(Module):
    """A matrix with orthonormal columns, or rows where there are more of those; see `orthogonal`."""

    base: Tensor | None

    def __init__(self, weight: Tensor, orthogonal_map: str, use_trivialization: bool) -> None:
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        self.use_trivialization = use_trivialization
        if use_trivialization:
            self.register_buffer("base", eye(max(weight.shape[-2:]), dtype=weight.dtype))

    def forward(self, weight: Tensor) -> Tensor:
        """The orthogonal matrix that belongs to the entries of `weight` on and below its diagonal."""
        wide = weight.shape[-2] < weight.shape[-1]
        x = weight.mT if wide else weight
        q = self._reflected(x) if self.orthogonal_map == "householder" else self._turned(x)
        if self.use_trivialization and self.base is not None:
            q = self.base @ q
        return q.mT if wide else q

    def _turned(self, x: Tensor) -> Tensor:
        """The map of a skew-symmetric matrix, its first columns."""
        *lead, n, k = x.shape
        lower = tril(x)
        if n != k:
            lower = concat([lower, zeros((*lead, n, n - k), dtype=x.dtype)], axis=-1)
        skew = lower - lower.mT.conj()
        if self.orthogonal_map == "matrix_exp":
            q = linalg.expm(skew)
        else:
            one = eye(n, dtype=x.dtype)
            q = linalg.solve(one - skew * 0.5, one + skew * 0.5)
        return q[..., :k]

    def _reflected(self, x: Tensor) -> Tensor:
        """The product of the reflections along the columns below the diagonal, with the signs that stand on it."""
        below = tril(x, k=-1)
        scales = 2.0 / (1.0 + sum(square(below), axis=-2))
        signs = linalg.diagonal(x.detach())
        q: Tensor = linalg.householder_product(below, scales) * signs.expand_dims(axis=-2)
        return q

    @no_grad()
    def right_inverse(self, weight: Tensor) -> Tensor:
        """What `weight`, made orthogonal if it isn't, comes from."""
        if weight.shape != self.shape:
            raise ValueError(f"orthogonal: a matrix of shape {weight.shape} given for {self.shape}{at_user()}")
        wide = weight.shape[-2] < weight.shape[-1]
        q = weight.mT if wide else weight
        if not self.use_trivialization:
            return self._as_reflections(q, wide)
        *lead, n, k = q.shape
        if n != k:
            more = random.normal((*lead, n, n - k), dtype=q.dtype)
            q = _made_orthogonal(concat([q, more], axis=-1))
        elif not _is_orthogonal(q):
            q = _made_orthogonal(q)
        if self.base is not None and self.base.shape == q.shape:
            self.base.data = q
        else:
            self.base = q.detach()
        # the signs of the reflections; to the other maps a real diagonal makes no difference
        return zeros(self.shape, dtype=weight.dtype) - eye(*self.shape[-2:], dtype=weight.dtype)

    def _as_reflections(self, q: Tensor, wide: bool) -> Tensor:
        if self.orthogonal_map != "householder":
            raise NotImplementedError(
                f"orthogonal: without trivialization the map {self.orthogonal_map} can't be inverted; nothing can be "
                f"assigned to it{at_user()}"
            )
        raw, scales = np.linalg.qr(q.numpy(), mode="raw")
        found = np.array(np.swapaxes(raw, -1, -2))
        rows = np.arange(found.shape[-1])
        signs = np.sign(found[..., rows, rows])
        found[..., rows, rows] = np.where(scales == 0, -signs, signs)
        result = asarray(found.astype(q.dtype.name))
        return result.mT if wide else result


def _made_orthogonal(x: Tensor) -> Tensor:
    """The orthogonal factor of x, whose triangular one has a positive diagonal."""
    q, r = linalg.qr(x)
    diagonal = linalg.diagonal(r)
    made: Tensor = q * (diagonal / abs(diagonal)).expand_dims(axis=-2)
    return made


def _is_orthogonal(q: Tensor) -> bool:
    n = q.shape[-2]
    error: Any = abs(q.mT.conj() @ q - eye(q.shape[-1], dtype=q.dtype)).max()
    return bool(error.item() <= 10 * n * float(np.finfo(q.dtype.name).eps))


def orthogonal(
    module: Module, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True
) -> Module:
    """Keep a weight (..., m, n) orthogonal: its columns orthonormal, or its rows where m < n; gives the module back.

    `orthogonal_map` is "matrix_exp" (of a skew-symmetric matrix; for square weights unless another is named), "cayley",
    (1 + A/2) (1 - A/2)⁻¹ of one, or "householder", a product of reflections (for all others). With `use_trivialization` the
    map is taken at a fixed matrix, the buffer `base` (M. Lezcano Casado, 2019), which is the weight's first value. Raises
    ValueError for other maps, for weights of fewer than two axes and where there is none.

    >>> import adjoint as ad
    >>> layer = ad.nn.utils.parametrizations.orthogonal(ad.nn.Linear(4, 3))
    >>> bool((abs(layer.weight @ layer.weight.mT - ad.eye(3)) < 1e-5).all())
    True
    """
    weight = _weight("orthogonal", module, name)
    if weight.ndim < 2:
        raise ValueError(f"orthogonal: the weight of shape {weight.shape} is no matrix{at_user()}")
    if orthogonal_map is None:
        square_or_complex = weight.shape[-2] == weight.shape[-1] or weight.dtype.kind == "c"
        orthogonal_map = "matrix_exp" if square_or_complex else "householder"
    if orthogonal_map not in MAPS:
        raise ValueError(f"orthogonal: orthogonal_map is one of {', '.join(MAPS)}, not {orthogonal_map!r}{at_user()}")
    return register_parametrization(module, name, _Orthogonal(weight, orthogonal_map, use_trivialization), unsafe=True)

"""`weight_norm` and `spectral_norm` as they were before parametrizations: the weight is computed where it is read.

Their states have other names than those of `torch.nn.utils.parametrizations`: `weight_g` and `weight_v`, or `weight_orig`,
`weight_u` and `weight_v`. Formulas: T. Salimans and D. Kingma (2016), T. Miyato and others (2018).
"""

from __future__ import annotations

from typing import Any

from adjoint.nn.convolution import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from adjoint.nn.functional import normalize
from adjoint.tensors import functions as core
from adjoint.tensors.located import at_user
from adjoint.transforms.modes import no_grad

from ..._creation import source
from ..._tensor import Parameter, as_torch
from .held import HELD, check_free, hold, release

__all__ = ["remove_spectral_norm", "remove_weight_norm", "spectral_norm", "weight_norm"]


def _length(v: Any, dim: int | None) -> Any:
    axes = None if dim is None else tuple(k for k in range(v.ndim) if k != dim % v.ndim)
    return core.sqrt(core.sum(core.square(v), axis=axes, keepdims=dim is not None))


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Train a weight by its length `name_g` and its direction `name_v`; gives the module back."""
    weight = check_free(module, "weight_norm", name)
    dim = None if dim == -1 else dim
    delattr(module, name)
    module.register_parameter(f"{name}_g", Parameter(as_torch(_length(weight, dim))))
    module.register_parameter(f"{name}_v", Parameter(weight.clone()))

    def compute(module: Any) -> Any:
        v = getattr(module, f"{name}_v")
        return v * (getattr(module, f"{name}_g") / _length(v, dim))

    return hold(module, "weight_norm", name, compute)


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Make the weight a parameter again, with the value that it has."""
    return release(module, "weight_norm", name, (f"{name}_g", f"{name}_v"))


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None
) -> Any:
    """Divide a weight by an estimate of its largest singular value, which each call in training makes better."""
    if n_power_iterations < 1:
        raise ValueError(f"spectral_norm: n_power_iterations must be positive, not {n_power_iterations}{at_user()}")
    if dim is None:
        dim = 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0
    weight = check_free(module, "spectral_norm", name)
    axes = (dim, *(k for k in range(weight.ndim) if k != dim))

    def matrix(w: Any) -> Any:
        return core.reshape(core.permute_dims(w, axes), (w.shape[dim], -1))

    delattr(module, name)
    module.register_parameter(f"{name}_orig", Parameter(weight.clone()))
    for part, size in zip("uv", matrix(weight).shape, strict=True):
        start = normalize(source(None).normal((size,), dtype=weight.dtype), dim=0, eps=eps)
        module.register_buffer(f"{name}_{part}", as_torch(start))

    def iterate(module: Any, args: Any) -> None:
        if not module.training or module.__dict__[HELD].get(name, ("",))[0] != "spectral_norm":
            return
        w = matrix(getattr(module, f"{name}_orig"))
        u, v = getattr(module, f"{name}_u"), getattr(module, f"{name}_v")
        with no_grad():
            new_u, new_v = u, v
            for _ in range(n_power_iterations):
                new_v = normalize(core.matmul(w.mT, new_u), dim=0, eps=eps)
                new_u = normalize(core.matmul(w, new_v), dim=0, eps=eps)
            u.data, v.data = new_u, new_v

    def compute(module: Any) -> Any:
        w = matrix(getattr(module, f"{name}_orig"))
        u, v = getattr(module, f"{name}_u"), getattr(module, f"{name}_v")
        sigma = core.sum(u.detach() * core.matmul(w, v.detach()))
        return getattr(module, f"{name}_orig") / sigma

    module.register_forward_pre_hook(iterate)
    return hold(module, "spectral_norm", name, compute)


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """Make the weight a parameter again, with the value that it has."""
    return release(module, "spectral_norm", name, (f"{name}_orig", f"{name}_u", f"{name}_v"))

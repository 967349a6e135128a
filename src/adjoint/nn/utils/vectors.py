"""Parameters as one vector and back."""

from __future__ import annotations

from collections.abc import Iterable

from adjoint.tensors import Tensor
from adjoint.tensors.functions import concat
from adjoint.tensors.located import at_user

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All parameters one after the other, each row by row, as one vector; differentiable.

    >>> import adjoint as ad
    >>> ad.nn.utils.parameters_to_vector([ad.variable([[1.0, 2.0]]), ad.variable(3.0)]).shape
    (3,)
    """
    return concat([parameter.reshape(-1) for parameter in parameters], axis=0)


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Give the parameters their values from a vector that `parameters_to_vector` could have made.

    Raises ValueError when it is of another length; nothing is changed then.

    >>> import adjoint as ad
    >>> w = ad.variable([[1.0, 2.0]])
    >>> ad.nn.utils.vector_to_parameters(ad.tensor([5.0, 6.0]), [w])
    >>> w
    Tensor([[5., 6.]], requires_grad=True)
    """
    given = list(parameters)
    count = sum(parameter.size for parameter in given)
    if vec.shape != (count,):
        raise ValueError(f"vector_to_parameters: {count} numbers don't fit a vector of shape {vec.shape}{at_user()}")
    start, values = 0, vec.detach()
    for parameter in given:
        parameter.data = values[start : start + parameter.size].reshape(parameter.shape).astype(parameter.dtype)
        start += parameter.size

"""torch.nn.utils.prune: weights of which a part is zero. A pruned `weight` is `weight_orig`, a parameter, times `weight_mask`, a
buffer, and is computed where it is read: so after an optimizer's step it is new at once, not at the module's next call.

Methods are objects of `BasePruningMethod`: `compute_mask(t, default_mask)` gives the mask of a tensor of which `default_mask` is
left. Several of one weight, one after the other, are a `PruningContainer`, in which each looks at what those before have left.
"""

from __future__ import annotations

import math
import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any

from adjoint.nn.hooks import remove_by
from adjoint.tensors import functions as core
from adjoint.tensors.located import at_user
from adjoint.transforms.modes import no_grad

from ..._creation import source
from ..._missing import getter
from ..._tensor import as_torch
from .held import HELD, check_free, hold, let_go

__all__ = [
    "BasePruningMethod", "CustomFromMask", "Identity", "L1Unstructured", "LnStructured", "PruningContainer", "RandomStructured",
    "RandomUnstructured", "custom_from_mask", "global_unstructured", "identity", "is_pruned", "l1_unstructured", "ln_structured",
    "random_structured", "random_unstructured", "remove",
]  # fmt: skip

KIND = "pruning"


class BasePruningMethod(ABC):
    """A way to choose what of a tensor is left. `PRUNING_TYPE` is "unstructured" (element by element), "structured" (slices along
    the axis `dim`) or "global", which is given whole tensors also where others have pruned before."""

    PRUNING_TYPE: str
    _tensor_name: str | None = None

    def __call__(self, module: Any, inputs: Any) -> None:
        """The forward hook, which has nothing left to do: the weight is computed where it is read."""
        return

    @abstractmethod
    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask of t: a tensor of zeros and ones, zero where `default_mask` is."""

    def apply_mask(self, module: Any) -> Any:
        """The weight of a module that this method prunes: what it was, times its mask."""
        if self._tensor_name is None:
            raise AssertionError(f"{type(self).__name__} has not been applied to a module{at_user()}")
        original = getattr(module, f"{self._tensor_name}_orig")
        return getattr(module, f"{self._tensor_name}_mask").to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module: Any, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any) -> Any:
        """Prune the parameter `name` of a module by a new object of this class, made with the other arguments; what it looks at
        are `importance_scores`, of the parameter's shape, or the parameter itself. Gives the method, or the container of all that
        this parameter has been pruned by. Raises AssertionError for scores of another shape."""
        method: BasePruningMethod = cls(*args, **kwargs)
        method._tensor_name = name
        before = _methods(module).get(name)
        if before is None:
            original = check_free(module, KIND, name)
        else:
            original = getattr(module, name).detach()
        scores = original if importance_scores is None else importance_scores
        if scores.shape != original.shape:
            raise AssertionError(
                f"prune: importance_scores have the shape {tuple(scores.shape)}, {name!r} has {tuple(original.shape)}{at_user()}"
            )
        with no_grad():
            if before is None:
                mask = method.compute_mask(scores, original.new_ones(original.shape))
            else:
                container = before if isinstance(before, PruningContainer) else PruningContainer(before)
                mask = container.with_one(method).compute_mask(scores, getattr(module, f"{name}_mask").detach().clone())
                container.add_pruning_method(method)
                method = container
        if before is None:
            parameter = module._parameters[name]
            delattr(module, name)
            module.register_parameter(f"{name}_orig", parameter)
            module.register_buffer(f"{name}_mask", mask)
        else:
            setattr(module, f"{name}_mask", mask)
            _remove_hook(module, before)
        module.register_forward_pre_hook(method)
        hold(module, KIND, name, method.apply_mask)
        return method

    def prune(self, t: Any, default_mask: Any = None, importance_scores: Any = None) -> Any:
        """What this method leaves of a tensor, of which `default_mask` was left before. Raises AssertionError for scores of
        another shape."""
        scores = t if importance_scores is None else importance_scores
        if scores.shape != t.shape:
            raise AssertionError(
                f"prune: importance_scores have the shape {tuple(scores.shape)}, the tensor has {tuple(t.shape)}{at_user()}"
            )
        with no_grad():
            mask = self.compute_mask(scores, t.new_ones(t.shape) if default_mask is None else default_mask)
        return t * mask.to(dtype=t.dtype)

    def remove(self, module: Any) -> None:
        """Make what is left the parameter's value; it is the parameter that it was, for optimizers, too."""
        name = self._tensor_name
        if name is None or name not in _methods(module):
            raise AssertionError(f"prune: {name!r} of {type(module).__name__} isn't pruned{at_user()}")
        parameter = getattr(module, f"{name}_orig")
        with no_grad():
            value = self.apply_mask(module).detach()
        let_go(module, name)
        delattr(module, f"{name}_orig")
        delattr(module, f"{name}_mask")
        parameter.data = value
        module.register_parameter(name, parameter)


class PruningContainer(BasePruningMethod):
    """Several methods for one tensor, one after the other."""

    PRUNING_TYPE = "container"

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[BasePruningMethod, ...] = ()
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Add one. Raises TypeError for something else, ValueError for a method of a tensor of another name."""
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"prune: {method!r} is no pruning method{at_user()}")
        if self._pruning_methods and method._tensor_name != self._tensor_name:
            raise ValueError(
                f"prune: methods in a container prune one tensor: {self._tensor_name!r}, not {method._tensor_name!r}{at_user()}"
            )
        self._tensor_name = method._tensor_name
        self._pruning_methods += (method,)

    def with_one(self, method: BasePruningMethod) -> PruningContainer:
        """These and one more, in a container of their own."""
        return PruningContainer(*self._pruning_methods, method)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask after the last method, which is given what `default_mask` leaves, in the form that it works on."""
        method, mask = self._pruning_methods[-1], default_mask.clone()
        if method.PRUNING_TYPE == "global":
            return method.compute_mask(t, mask)
        if method.PRUNING_TYPE == "unstructured":
            left = mask != 0
            mask[left] = method.compute_mask(t[left], mask[left]).to(dtype=mask.dtype)
            return mask
        if method.PRUNING_TYPE != "structured":
            raise ValueError(f"prune: there is no PRUNING_TYPE {method.PRUNING_TYPE!r}{at_user()}")
        dim = method.dim % t.ndim  # type: ignore[attr-defined]
        others = [k for k in range(t.ndim) if k != dim]
        left = (mask.abs().sum(dim=others) != 0).nonzero().reshape(-1)
        found = method.compute_mask(t.index_select(dim, left), mask.index_select(dim, left))
        return mask.index_copy(dim, left, found.to(dtype=mask.dtype))


class Identity(BasePruningMethod):
    """Everything is left: the weight gets its mask, and that is of ones."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """What was left."""
        return default_mask


class _Counted(BasePruningMethod):
    """What prunes an `amount`: a whole number, of elements or slices, or a part of them between 0 and 1."""

    def __init__(self, amount: Any) -> None:
        if not isinstance(amount, numbers.Real):
            raise TypeError(f"prune: amount is a number, not a {type(amount).__name__}{at_user()}")
        self.whole, self.amount = isinstance(amount, numbers.Integral), float(amount)
        if not 0 <= self.amount <= (math.inf if self.whole else 1):
            raise ValueError(f"prune: amount is a count or a part between 0 and 1, not {amount}{at_user()}")

    def count(self, size: int) -> int:
        """How many of so many are pruned. Raises ValueError where there are fewer."""
        if self.whole and self.amount > size:
            raise ValueError(f"prune: amount is {self.amount:.0f}, and there are {size}{at_user()}")
        return round(self.amount if self.whole else self.amount * size)


class _Unstructured(_Counted):
    """Elements with the smallest scores are pruned."""

    PRUNING_TYPE = "unstructured"

    def scores(self, t: Any) -> Any:
        """A number for each element."""
        raise NotImplementedError

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """What was left but the elements with the smallest scores."""
        count, mask = self.count(t.numel()), default_mask.clone()
        if count:
            chosen = self.scores(t).reshape(-1).topk(count, largest=False).indices
            mask = mask.reshape(-1).index_fill(0, chosen, 0).reshape(mask.shape)
        return mask


class RandomUnstructured(_Unstructured):
    """Prunes elements at random."""

    def scores(self, t: Any) -> Any:
        """Numbers drawn for the elements."""
        return _uniform(t.shape)


class L1Unstructured(_Unstructured):
    """Prunes the elements of the smallest size."""

    def scores(self, t: Any) -> Any:
        """Their sizes."""
        return t.abs()


class _Structured(_Counted):
    """Slices along an axis with the smallest scores are pruned."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: Any, dim: int = -1) -> None:
        super().__init__(amount)
        self.dim = dim

    def scores(self, t: Any, others: list[int]) -> Any:
        """A number for each slice; `others` are the axes along it."""
        raise NotImplementedError

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """What was left but the slices with the smallest scores. Raises ValueError for a tensor of one axis, IndexError
        where there is no such axis."""
        if t.ndim < 2:
            raise ValueError(f"prune: slices are pruned of tensors with two axes or more, not {t.ndim}{at_user()}")
        if not -t.ndim <= self.dim < t.ndim:
            raise IndexError(f"prune: there is no axis {self.dim} of {t.ndim}{at_user()}")
        dim, mask = self.dim % t.ndim, default_mask.clone()
        count = self.count(t.shape[dim])
        if count:
            scores = self.scores(t, [k for k in range(t.ndim) if k != dim])
            mask = mask.index_fill(dim, scores.topk(count, largest=False).indices, 0)
        return mask


class RandomStructured(_Structured):
    """Prunes slices along an axis at random."""

    def scores(self, t: Any, others: list[int]) -> Any:
        """Numbers drawn for the slices."""
        return _uniform((t.shape[self.dim],))


class LnStructured(_Structured):
    """Prunes the slices along an axis that have the smallest norms of order n."""

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def scores(self, t: Any, others: list[int]) -> Any:
        """Their norms."""
        return t.norm(p=self.n, dim=others)


class CustomFromMask(BasePruningMethod):
    """Prunes by a mask that is given."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Any) -> None:
        self.mask = mask

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """What both masks leave. Raises AssertionError for masks of two shapes."""
        if self.mask.shape != default_mask.shape:
            raise AssertionError(
                f"prune: the mask has the shape {tuple(self.mask.shape)}, the tensor {tuple(default_mask.shape)}{at_user()}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)


def _uniform(shape: Any) -> Any:
    return as_torch(source(None).uniform(tuple(shape)))


def _methods(module: Any) -> dict[str, BasePruningMethod]:
    """The methods by which a module's own parameters are pruned."""
    held = module.__dict__.get(HELD, {})
    return {name: compute.__self__ for name, (kind, compute) in held.items() if kind == KIND}


def _remove_hook(module: Any, method: BasePruningMethod) -> None:
    for number, hook in module._forward_pre_hooks.items():
        if hook is method:
            remove_by(module, number).remove()


# As functions --------------------------------------------------------------------------------------------------------------


def identity(module: Any, name: str) -> Any:
    """Give a parameter a mask of ones; gives the module back."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Any, name: str, amount: Any) -> Any:
    """Prune an amount of a parameter's elements, chosen at random; gives the module back."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module: Any, name: str, amount: Any, importance_scores: Any = None) -> Any:
    """Prune an amount of a parameter's elements, those of the smallest size; gives the module back."""
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module: Any, name: str, amount: Any, dim: int) -> Any:
    """Prune an amount of a parameter's slices along an axis, chosen at random; gives the module back."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module: Any, name: str, amount: Any, n: Any, dim: int, importance_scores: Any = None) -> Any:
    """Prune an amount of a parameter's slices along an axis, those of the smallest norms; gives the module back."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Any, name: str, mask: Any) -> Any:
    """Prune a parameter by a mask; gives the module back."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters: Any, pruning_method: Any, importance_scores: Any = None, **kwargs: Any) -> None:
    """Prune several parameters, pairs (module, name), as if they were one: an amount of all their elements. `importance_scores`
    are scores by such pairs. Raises TypeError for a method that isn't unstructured."""
    if not isinstance(parameters, Iterable):
        raise TypeError(f"global_unstructured: parameters are pairs (module, name){at_user()}")
    pairs = list(parameters)
    given = {} if importance_scores is None else importance_scores
    if not isinstance(given, dict):
        raise TypeError(f"global_unstructured: importance_scores are a dictionary by (module, name){at_user()}")
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(f"global_unstructured: {pruning_method.__name__} is {method.PRUNING_TYPE}{at_user()}")
    if not pairs:
        return
    with no_grad():
        tensors = [getattr(module, name).detach() for module, name in pairs]
        scores = [given.get(pair, t) for pair, t in zip(pairs, tensors, strict=True)]
        masks = [getattr(module, f"{name}_mask", None) for module, name in pairs]
        left = [t.new_ones(t.shape) if mask is None else mask for t, mask in zip(tensors, masks, strict=True)]
        whole = PruningContainer(method).compute_mask(_together(scores), _together(left))
    start = 0
    for (module, name), t in zip(pairs, tensors, strict=True):
        custom_from_mask(module, name, whole[start : start + t.numel()].reshape(t.shape))
        start += t.numel()


def _together(tensors: list[Any]) -> Any:
    return as_torch(core.concat([t.reshape(-1) for t in tensors]))


def remove(module: Any, name: str) -> Any:
    """Make what is left of a parameter its value, for good; gives the module back. Raises ValueError where it isn't pruned."""
    method = _methods(module).get(name)
    if method is None:
        raise ValueError(f"prune: {name!r} of {type(module).__name__} isn't pruned{at_user()}")
    method.remove(module)
    _remove_hook(module, method)
    return module


def is_pruned(module: Any) -> bool:
    """Whether a parameter of the module, or of one below it, is pruned."""
    return any(_methods(part) for part in module.modules())


__getattr__ = getter("torch.nn.utils.prune", globals())

"""The adaptive softmax (E. Grave and others, 2017): frequent classes in a head, rare ones in clusters behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from adjoint.tensors.located import at_user

from .._names import FUNCTIONS
from .modules import LAYERS, Module, ModuleList, Sequential

__all__ = ["AdaptiveLogSoftmaxWithLoss"]


class _ASMoutput(NamedTuple):
    """What the layer gives."""

    output: Any
    loss: Any


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log probabilities of the target classes, and their mean, negative. Classes are sorted from frequent to rare.

    The head has the first `cutoffs[0]` classes and one entry for each cluster of the others; cluster k projects its input to
    `in_features / div_value**(k + 1)` features. Inputs (N, in_features) or (in_features,), targets (N,) or ().
    """

    def __init__(self, in_features: int, n_classes: int, cutoffs: Sequence[int], div_value: float = 4.0, head_bias: bool = False,
                 device: Any = None, dtype: Any = None) -> None:  # fmt: skip
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError(f"AdaptiveLogSoftmaxWithLoss: cutoffs must not be empty{at_user()}")
        if cutoffs != sorted(set(cutoffs)) or cutoffs[0] <= 0 or cutoffs[-1] > n_classes - 1:
            raise ValueError(
                f"AdaptiveLogSoftmaxWithLoss: cutoffs rise from 1 to n_classes - 1 = {n_classes - 1}, not {cutoffs}{at_user()}"
            )
        options = {"device": device, "dtype": dtype}
        self.in_features, self.n_classes, self.div_value, self.head_bias = in_features, n_classes, div_value, head_bias
        self.cutoffs = [*cutoffs, n_classes]
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        Linear = LAYERS["Linear"]
        self.head = Linear(in_features, self.head_size, bias=head_bias, **options)
        self.tail = ModuleList()
        for k in range(self.n_clusters):
            inner = int(in_features // div_value ** (k + 1))
            size = self.cutoffs[k + 1] - self.cutoffs[k]
            self.tail.append(
                Sequential(
                    Linear(in_features, inner, bias=False, **options), Linear(inner, size, bias=False, **options)
                )
            )

    def forward(self, input: Any, target: Any) -> Any:
        """`(output, loss)`: each target's log probability, and the mean of their negatives."""
        if input.ndim not in (1, 2) or tuple(input.shape[:-1]) != tuple(target.shape):
            raise RuntimeError(
                f"AdaptiveLogSoftmaxWithLoss: inputs (N, {self.in_features}) need targets (N,), got {tuple(input.shape)} and "
                f"{tuple(target.shape)}{at_user()}"
            )
        chosen = FUNCTIONS["gather"](self.log_prob(input), -1, target.unsqueeze(-1)).squeeze(-1)
        return _ASMoutput(chosen, (-chosen).mean())

    def log_prob(self, input: Any) -> Any:
        """The log probabilities of all classes, (..., n_classes)."""
        head = self.head(input).log_softmax(dim=-1)
        parts = [head[..., : self.shortlist_size]]
        for k in range(self.n_clusters):
            own = self.tail[k](input).log_softmax(dim=-1)
            parts.append(own + head[..., self.shortlist_size + k].unsqueeze(-1))
        return FUNCTIONS["cat"](parts, -1)

    def predict(self, input: Any) -> Any:
        """The most probable class of each input."""
        return self.log_prob(input).argmax(dim=-1)

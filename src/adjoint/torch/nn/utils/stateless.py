"""torch.nn.utils.stateless: a module with other parameters, for a call."""

from __future__ import annotations

from typing import Any

from ...func import functional_call as called

__all__ = ["functional_call"]


def functional_call(
    module: Any, parameters_and_buffers: Any, args: Any = None, kwargs: Any = None, *, tie_weights: bool = True,
    strict: bool = False,
) -> Any:  # fmt: skip
    """What a module gives with these tensors in place of its own; `torch.func.functional_call`."""
    return called(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)

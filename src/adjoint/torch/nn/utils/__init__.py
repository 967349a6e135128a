"""torch.nn.utils."""

from __future__ import annotations

import inspect
from typing import Any

from adjoint.nn import utils as core_utils

from ..._missing import getter
from ..._names import recorded_at_user, with_keywords
from . import parametrizations, parametrize, prune, rnn
from .normed import remove_spectral_norm, remove_weight_norm, spectral_norm, weight_norm

__all__ = [*(n for n in core_utils.__all__ if n not in globals()), "parametrizations", "parametrize", "prune", "rnn",
           "remove_spectral_norm", "remove_weight_norm", "spectral_norm", "weight_norm"]  # fmt: skip


def _foreach(f: Any) -> Any:
    """With the argument that says how PyTorch computes it."""

    def called(*args: Any, foreach: Any = None, **keywords: Any) -> Any:
        return f(*args, **keywords)

    called.__name__, called.__doc__ = f.__name__, f.__doc__
    more = inspect.Parameter("foreach", inspect.Parameter.KEYWORD_ONLY, default=None)
    called.__signature__ = with_keywords(inspect.signature(f), more)  # type: ignore[attr-defined]
    return called


for _name in core_utils.__all__:
    if _name not in globals():  # submodules are this package's own
        globals()[_name] = recorded_at_user(getattr(core_utils, _name))
for _name in ("clip_grad_norm_", "clip_grad_value_", "get_total_norm"):
    globals()[_name] = _foreach(globals()[_name])

__getattr__ = getter("torch.nn.utils", globals())

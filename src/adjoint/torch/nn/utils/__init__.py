"""torch.nn.utils."""

from __future__ import annotations

from adjoint.nn import utils as core_utils

from ..._missing import getter
from ..._names import recorded_at_user
from . import parametrizations, parametrize, rnn

__all__ = [*(n for n in core_utils.__all__ if n not in globals()), "parametrizations", "parametrize", "rnn"]

for _name in core_utils.__all__:
    if _name not in globals():  # submodules are this package's own
        globals()[_name] = recorded_at_user(getattr(core_utils, _name))

__getattr__ = getter("torch.nn.utils", globals())

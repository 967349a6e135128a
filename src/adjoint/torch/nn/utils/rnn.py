"""torch.nn.utils.rnn: sequences of several lengths."""

from __future__ import annotations

from adjoint.nn.utils import rnn as core_rnn

from ..._missing import getter
from ..._names import recorded_at_user

__all__ = list(core_rnn.__all__)

PackedSequence = core_rnn.PackedSequence
for _name in core_rnn.__all__:
    if _name != "PackedSequence":
        globals()[_name] = recorded_at_user(getattr(core_rnn, _name))

__getattr__ = getter("torch.nn.utils.rnn", globals())

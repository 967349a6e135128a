"""torch.nn.utils.rnn: sequences of several lengths."""

from __future__ import annotations

from typing import Any, Self

from adjoint.nn.utils import rnn as core_rnn

from ..._missing import getter
from ..._names import recorded_at_user
from ..._tensor import AS_PYTORCHS

__all__ = list(core_rnn.__all__)


class PackedSequence(core_rnn.PackedSequence):
    """The core's, with the methods of PyTorch's that cast its elements."""

    __slots__ = ()

    def to(self, *args: Any, **keywords: Any) -> Self:
        """With the elements as `Tensor.to` gives them."""
        return self._replace(data=self.data.to(*args, **keywords))  # type: ignore[attr-defined]

    def cuda(self, *args: Any, **keywords: Any) -> Self:
        """Raises: adjoint computes on the CPU."""
        return self.to("cuda")

    @property
    def is_cuda(self) -> bool:
        """False."""
        return False

    def is_pinned(self) -> bool:
        """False."""
        return False


def _casting(name: str) -> None:
    def called(self: PackedSequence) -> PackedSequence:
        return self._replace(data=getattr(self.data, name)())

    called.__doc__ = f"With the elements as `Tensor.{name}` gives them."
    setattr(PackedSequence, name, called)


for _name in "byte char cpu double float half int long pin_memory short".split():
    _casting(_name)
AS_PYTORCHS[core_rnn.PackedSequence] = PackedSequence
for _name in core_rnn.__all__:
    if _name != "PackedSequence":
        globals()[_name] = recorded_at_user(getattr(core_rnn, _name))

__getattr__ = getter("torch.nn.utils.rnn", globals())

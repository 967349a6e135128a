"""torch.utils.tensorboard: numbers by step in the files that TensorBoard reads."""

from __future__ import annotations

import datetime
import os
import socket
from collections.abc import Mapping
from typing import Any

from adjoint.tensors.located import at_user
from adjoint.train.tensorboard import TensorBoard

from .._names import refuse
from .._tensor import Core

__all__ = ["SummaryWriter"]

EVERY = 1 << 62  # steps of those that are in the folder already, which PyTorch would leave in a file of their own


class SummaryWriter:
    """Writes numbers for `tensorboard --logdir`, by default below `runs`. Pictures, histograms and graphs it doesn't write: what
    adds them raises AttributeError.

    >>> import tempfile
    >>> from adjoint.torch.utils.tensorboard import SummaryWriter
    >>> with tempfile.TemporaryDirectory() as folder, SummaryWriter(folder) as writer:
    ...     writer.add_scalar("loss/train", 0.5, 1)
    """

    def __init__(
        self, log_dir: Any = None, comment: str = "", purge_step: int | None = None, max_queue: int = 10, flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:  # fmt: skip
        """Each number is written at once, so `max_queue` and `flush_secs` change nothing. Raises OSError where it can't be."""
        refuse("SummaryWriter", "filename_suffix", filename_suffix, "")
        moment = datetime.datetime.now().strftime("%b%d_%H-%M-%S")
        self.log_dir = os.fspath(log_dir or os.path.join("runs", f"{moment}_{socket.gethostname()}{comment}"))
        self._board = TensorBoard(self.log_dir, EVERY if purge_step is None else purge_step - 1)

    def add_scalar(
        self, tag: str, scalar_value: Any, global_step: int | None = None, walltime: Any = None, new_style: bool = False,
        double_precision: bool = False,
    ) -> None:  # fmt: skip
        """A number, or a tensor of one, under a name at a step. Raises RuntimeError for what is no number."""
        refuse("add_scalar", "walltime", walltime)
        self._board.add(int(global_step or 0), {tag: _number(tag, scalar_value)})

    def add_scalars(
        self, main_tag: str, tag_scalar_dict: Mapping[str, Any], global_step: int | None = None, walltime: Any = None
    ) -> None:
        """Several numbers, named main_tag/name; PyTorch writes a file for each."""
        refuse("add_scalars", "walltime", walltime)
        numbers = {f"{main_tag}/{tag}": _number(tag, value) for tag, value in tag_scalar_dict.items()}
        self._board.add(int(global_step or 0), numbers)

    def get_logdir(self) -> str:
        """The folder."""
        return self.log_dir

    def flush(self) -> None:
        """All is written already."""

    def close(self) -> None:
        """End the file."""
        self._board.close()

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        hint = "; it writes numbers alone, by add_scalar and add_scalars" if name.startswith("add_") else ""
        raise AttributeError(f"SummaryWriter has no {name!r} in adjoint{hint}{at_user()}")


def _number(tag: str, value: Any) -> float:
    try:
        return float(value.detach().item() if isinstance(value, Core) else value)
    except (TypeError, ValueError) as error:
        raise RuntimeError(f"add_scalar: {tag!r} is no number: {value!r}{at_user()}") from error

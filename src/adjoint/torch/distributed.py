"""torch.distributed: there is one process here."""

from __future__ import annotations

from typing import Any

from adjoint.tensors.located import at_user

from ._missing import getter

__all__ = [
    "destroy_process_group",
    "get_rank",
    "get_world_size",
    "init_process_group",
    "is_available",
    "is_initialized",
]


def is_available() -> bool:
    """False."""
    return False


def is_initialized() -> bool:
    """False."""
    return False


def init_process_group(*args: Any, **options: Any) -> None:
    """Raises: there is one process."""
    raise RuntimeError(
        f"init_process_group: adjoint.torch trains in one process; leave it out (ad.distributed trains in many){at_user()}"
    )


def destroy_process_group(*args: Any) -> None:
    """Nothing to do."""


def get_rank(*args: Any) -> int:
    """0."""
    return 0


def get_world_size(*args: Any) -> int:
    """1."""
    return 1


__getattr__ = getter("torch.distributed", globals())

"""torch.distributed: there is one process here."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any, NoReturn

from adjoint.tensors.located import at_user

from ._missing import getter

__all__ = [
    "ReduceOp",
    "destroy_process_group",
    "get_backend",
    "get_rank",
    "get_world_size",
    "init_process_group",
    "is_available",
    "is_gloo_available",
    "is_initialized",
    "is_mpi_available",
    "is_nccl_available",
]


class ReduceOp(enum.IntEnum):
    """How the tensors of many processes are made one."""

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR = range(8)


def is_available() -> bool:
    """False."""
    return False


def is_initialized() -> bool:
    """False."""
    return False


is_nccl_available = is_gloo_available = is_mpi_available = is_available


def _refusing(name: str) -> Callable[..., NoReturn]:
    def refuse(*args: Any, **options: Any) -> NoReturn:
        raise RuntimeError(
            f"{name}: there is no process group, for adjoint.torch trains in one process; ask for it where "
            f"torch.distributed.is_initialized() (ad.distributed trains in many){at_user()}"
        )

    refuse.__name__ = refuse.__qualname__ = name
    return refuse


EXCHANGES = """all_reduce all_gather all_gather_into_tensor all_gather_object all_to_all all_to_all_single barrier broadcast
    broadcast_object_list gather irecv isend new_group recv reduce reduce_scatter reduce_scatter_tensor scatter send""".split()
globals().update({name: _refusing(name) for name in EXCHANGES})
get_backend = _refusing("get_backend")


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

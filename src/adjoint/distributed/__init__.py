"""Many processes: on MPI (`mpiexec -n 4 python program.py`, the extra `mpi`) or Ray (the extra `ray`); alone, all of it is the
identity, so the same program runs without either.
"""

from .collectives import all_gather, all_reduce, all_to_all, barrier, broadcast, recv, reduce_scatter, replicate, send
from .engine import DistributedError, get_timeout, set_timeout
from .group import Group, rank, world, world_size
from .launch import launch
from .mapping import MapError, map
from .parallel import DataParallel, data_parallel, synchronize_batch_norm
from .ray_engine import run_on_ray

__all__ = [
    "DataParallel",
    "DistributedError",
    "Group",
    "MapError",
    "all_gather",
    "all_reduce",
    "all_to_all",
    "barrier",
    "broadcast",
    "data_parallel",
    "get_timeout",
    "launch",
    "map",
    "rank",
    "recv",
    "reduce_scatter",
    "replicate",
    "run_on_ray",
    "send",
    "set_timeout",
    "synchronize_batch_norm",
    "world",
    "world_size",
]

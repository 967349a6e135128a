"""Starting the ranks of a job on this machine, or on a Ray cluster."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence

from .engine import DistributedError
from .ray_engine import run_on_ray

__all__ = ["launch", "share_of_cores"]


def share_of_cores(workers: int) -> int:
    """How many threads each of so many ranks on this machine may use."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores // workers)


def launch(
    main: Callable[[Sequence[str]], int],
    arguments: Sequence[str],
    workers: int,
    *,
    engine: str = "mpi",
    address: str | None = None,
    again: Sequence[str] = (),
) -> int:
    """Run `python -m adjoint` with these arguments in so many ranks; its exit status.

    By MPI they are processes of this machine, which `mpiexec` starts; by Ray `main(arguments)` is called in the workers of a
    cluster, and with the arguments `again` added after one has died. Raises DistributedError where mpiexec is missing;
    ImportError without mpi4py or ray.
    """
    threads = {"ADJOINT_NUM_THREADS": str(share_of_cores(workers))}
    if engine == "ray":
        statuses = run_on_ray(
            main, list(arguments), workers=workers, address=address, environment=threads,
            again=lambda given: ([*given[0], *[x for x in again if x not in given[0]]],),
        )  # fmt: skip
        return int(max(statuses))
    beside = os.path.dirname(sys.executable)
    program = shutil.which("mpiexec", path=os.pathsep.join([beside, os.environ.get("PATH", "")]))
    if program is None:
        raise DistributedError("mpiexec wasn't found: pip install 'adjoint[mpi]', or load your cluster's MPI")
    command = [program, "-n", str(workers), sys.executable, "-m", "adjoint", *arguments]
    return subprocess.run(command, env={**os.environ, **threads}, check=False).returncode

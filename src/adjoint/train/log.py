"""A log in lines of JSON: one object for each line, so that a log that breaks off is a log that is short."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from adjoint import _files

from .tensorboard import Appended, TensorBoard

__all__ = ["JsonLines", "LogPath", "Logs"]

LogPath = str | os.PathLike[str]
FOLDER = "tensorboard"  # what a folder for TensorBoard is called


class Logs:
    """The logs of a run: a file in lines of JSON for each name, or for one that ends in `tensorboard` a folder of events."""

    def __init__(self, paths: LogPath | Sequence[LogPath], after: int | None = None) -> None:
        given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
        self._logs = [(TensorBoard if Path(path).name == FOLDER else JsonLines)(path, after) for path in given]

    def write(self, step: int, **record: Any) -> None:
        """Add a record to each."""
        for log in self._logs:
            log.write(step=step, **record)

    def close(self) -> None:
        """End all."""
        for log in self._logs:
            log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class JsonLines(Appended):
    """Appends records to a file, each a line of its own that is there when `write` returns.

    `after` is the step at which a resumed run goes on: what the file says about later steps, and a line that wasn't
    finished, is removed first, for it will be written again. Without it the file begins anew. Raises OSError where it
    can't be written.
    """

    def __init__(self, path: str | os.PathLike[str], after: int | None = None) -> None:
        kept = [] if after is None else _lines(Path(path), after)
        _files.remove_leftovers(Path(path).parent, Path(path).name)
        with _files.replacing(path) as file:
            file.write("".join(kept).encode())
        self._file = open(path, "a", encoding="utf-8")  # noqa: SIM115  (held open until `close`)

    def write(self, **record: Any) -> None:
        """Add a line. Numbers that JSON lacks (infinity, NaN) become null."""
        self._file.write(json.dumps({name: _plain(value) for name, value in record.items()}) + "\n")
        self._file.flush()


def _lines(path: Path, after: int) -> list[str]:
    """The lines about steps up to `after`."""
    if not path.exists():
        return []
    kept = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True):
        try:
            record = json.loads(line) if line.endswith("\n") else None
        except ValueError:
            record = None
        if isinstance(record, dict) and record.get("step", 0) <= after:
            kept.append(line)
    return kept


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value

"""Files that appear whole or not at all, and the folder for what is downloaded once."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

__all__ = ["cache_folder", "replacing", "sync_folder"]


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a new file that takes the place of `path` once the block has ended well.

    The bytes go to a temporary file in the same folder, reach the disk, and then the name is switched: a crash, a full
    disk or an exception leaves the old file as it was. Raises OSError where the folder can't be written.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "this is a folder; name a file in it", str(target))
    if not target.parent.exists():
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(target.parent))
    partial = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
    try:
        with open(partial, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, target)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    sync_folder(target.parent)


def sync_folder(folder: Path) -> None:
    """Let a file's new name reach the disk."""
    # The new name itself lies in the folder. Not every system lets a folder be opened; there the rename has to do.
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def cache_folder() -> Path:
    """The folder for what can be had again: ADJOINT_CACHE, or adjoint/ in XDG_CACHE_HOME, or in ~/.cache."""
    chosen = os.environ.get("ADJOINT_CACHE")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "adjoint"

"""Files that appear whole or not at all, and the folder for what is downloaded once."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

__all__ = ["cache_folder", "is_stream", "remove_leftovers", "replacing", "sync_folder"]

DESCRIPTOR = re.compile(r"/dev/(stdin|stdout|stderr)|/(?:dev|proc/self)/fd/(\d+)")
LEFTOVER = re.compile(r"\..+\.[0-9a-f]{8}\.(partial|new|link)")


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a new file that takes the place of `path` once the block has ended well.

    The bytes go to a temporary file in the same folder, reach the disk, and then the name is switched: a crash, a full
    disk or an exception leaves the old file as it was. What is no regular file (a device, a pipe, `/dev/stdout`) is written
    directly. Raises OSError, with the file's name, where it can't be written.
    """
    if is_stream(path):
        with _stream(path) as file:
            yield file
        return
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
    except BaseException as error:
        partial.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None and error.filename is None:
            error.filename = os.fspath(path)  # of a disk that is full, writing doesn't say it
        raise
    sync_folder(target.parent)


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether a path stands for something that isn't replaced but written to: a device, a pipe, an open file's number."""
    if DESCRIPTOR.fullmatch(os.fspath(path)):
        return True
    try:
        kind = os.stat(path).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(kind) or stat.S_ISDIR(kind))


def _stream(path: str | os.PathLike[str]) -> BinaryIO:
    found = DESCRIPTOR.fullmatch(os.fspath(path))
    if found is None:
        return open(path, "wb")
    number = {"stdin": 0, "stdout": 1, "stderr": 2}.get(found[1]) if found[1] else int(found[2])
    assert number is not None
    for file in (sys.stdout, sys.stderr):  # what was printed before comes before
        with contextlib.suppress(OSError, ValueError, AttributeError):
            file.flush()
    # A copy: opened anew, a file that the shell has opened would be written from its start.
    return open(os.dup(number), "wb")


def remove_leftovers(folder: Path, name: str = "") -> None:
    """Delete the unfinished files, of this name or all, of a process that was killed while it wrote into a folder."""
    with contextlib.suppress(OSError):
        for path in list(folder.iterdir()):
            if LEFTOVER.fullmatch(path.name) and path.name.lstrip(".").startswith(name):
                with contextlib.suppress(OSError):
                    path.unlink()


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

"""Object code on disk, so that a structure compiled by an earlier process needn't be compiled again.

An entry's name is a hash of everything that decides the code: the IR, the processor's features, the versions. An entry
starts with a hash of its contents: one that was cut short or damaged is ignored. Entries are written to a temporary file
and renamed, so that processes may share a folder; one that can't be written is no error. ADJOINT_CACHE names another
folder, or is empty for none.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
from pathlib import Path

FORMAT = "1"
LIMIT = 1 << 28  # bytes in all: beyond it the entries that were used longest ago go
TRIM_EVERY = 64  # entries written between two looks at the size
DIGEST = 32

_written = 0


def folder() -> Path | None:
    """Where the entries are; None if there are to be none."""
    chosen = os.environ.get("ADJOINT_CACHE")
    if chosen is not None:
        return Path(chosen) if chosen else None
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home()))
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return base / "adjoint" / "native"


def key_of(*parts: str) -> str:
    """The name of the entry for these parts."""
    return hashlib.sha256("\0".join([FORMAT, *parts]).encode()).hexdigest()


def load(key: str) -> bytes | None:
    """An entry's contents; None where there is no sound one."""
    place = folder()
    if place is None:
        return None
    path = place / key
    try:
        data = path.read_bytes()
    except OSError:
        return None
    if len(data) <= DIGEST or hashlib.sha256(data[DIGEST:]).digest() != data[:DIGEST]:
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # used now
    return data[DIGEST:]


def store(key: str, contents: bytes) -> None:
    """Write an entry, if the folder can be written."""
    global _written
    place = folder()
    if place is None:
        return
    try:
        place.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=place, prefix="new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(contents).digest() + contents)
            os.replace(name, place / key)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(name)
            return
    except OSError:
        return
    _written += 1
    if _written % TRIM_EVERY == 0:
        trim(place)


def trim(place: Path, limit: int = LIMIT) -> None:
    """Delete the entries that were used longest ago, until the rest fits."""
    found = []
    with contextlib.suppress(OSError):
        for path in place.iterdir():
            with contextlib.suppress(OSError):
                status = path.stat()
                found.append((status.st_mtime, status.st_size, path))
    total = sum(size for _, size, _ in found)
    for _, size, path in sorted(found):
        if total <= limit:
            break
        with contextlib.suppress(OSError):
            path.unlink()
            total -= size

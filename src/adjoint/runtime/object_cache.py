"""Object code on disk, so that a structure compiled by an earlier process needn't be compiled again.

An entry's name is a hash of everything that decides the code: the IR, the processor's features, the versions. An entry
starts with a hash of its name and contents: one that was cut short, damaged or renamed is ignored. Entries are written to
a temporary file and renamed, so that processes may share a folder; one that can't be written is no error. ADJOINT_CACHE
names another folder, or is empty for none.

What is read here is executed. So only what this user alone can have written is read: the folder and the entry belong to the
user and others may write to neither. A folder that isn't so is not used, and a warning says why.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import stat
import sys
import tempfile
import warnings
from pathlib import Path

FORMAT = "2"
LIMIT = 1 << 28  # bytes in all: beyond it the entries that were used longest ago go
TRIM_EVERY = 64  # entries written between two looks at the size, on average
DIGEST = 32
TEMPORARY = "new-"
ENTRY = re.compile(rf"[0-9a-f]{{64}}|{TEMPORARY}\w+")  # names that are ours; nothing else in the folder is touched

_told: set[str] = set()  # folders that the user knows not to be used


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
    place = _usable()
    if place is None:
        return None
    path = place / key
    data = _read(path)
    if data is None or len(data) <= DIGEST or _digest(key, data[DIGEST:]) != data[:DIGEST]:
        return None
    with contextlib.suppress(OSError):
        os.utime(path)  # used now
    return data[DIGEST:]


def store(key: str, contents: bytes) -> None:
    """Write an entry, if the folder can be written."""
    place = folder()
    if place is None:
        return
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.mkdir(mode=0o700, exist_ok=True)
        if _usable() is None:
            return
        handle, name = tempfile.mkstemp(dir=place, prefix=TEMPORARY)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_digest(key, contents) + contents)
            os.replace(name, place / key)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(name)
            return
    except OSError:
        return
    # Keys are evenly distributed, so they tell one write in so many, whichever process writes, and however few entries.
    if int(key[:8], 16) % TRIM_EVERY == 0:
        trim(place)


def trim(place: Path, limit: int | None = None) -> None:
    """Delete the entries that were used longest ago, until the rest fits into `limit` bytes."""
    found = []
    with contextlib.suppress(OSError):
        for path in place.iterdir():
            if ENTRY.fullmatch(path.name):
                with contextlib.suppress(OSError):
                    status = path.stat()
                    found.append((status.st_mtime, status.st_size, path))
    total = sum(size for _, size, _ in found)
    for _, size, path in sorted(found):
        if total <= (LIMIT if limit is None else limit):
            break
        with contextlib.suppress(OSError):
            path.unlink()
            total -= size


def _digest(key: str, contents: bytes) -> bytes:
    return hashlib.sha256(key.encode() + b"\0" + contents).digest()


def _read(path: Path) -> bytes | None:
    """The bytes of a file that only this user can have written; None where there is none."""
    try:
        # Neither through a link nor waiting for the other end of a pipe.
        flags = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        with open(os.open(path, os.O_RDONLY | flags), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or _writable_by_others(status):
                return None
            return file.read()
    except OSError:
        return None


def _usable() -> Path | None:
    """The folder, if nobody else can have put anything into it."""
    place = folder()
    if place is None:
        return None
    try:
        status = os.stat(place)
    except OSError:
        return None
    reason = _writable_by_others(status)
    if reason is None:
        return place
    if str(place) not in _told:
        _told.add(str(place))
        warnings.warn(
            f"adjoint neither reads nor keeps compiled code in {place}, because {reason} and what is there is executed: "
            "name a folder of your own by ADJOINT_CACHE (empty for none), or delete this one",
            RuntimeWarning,
            stacklevel=2,
        )
    return None


def _writable_by_others(status: os.stat_result) -> str | None:
    """Why somebody else may have written a file or folder; None where only this user can. Windows keeps a user's own folders
    from other users, and says nothing here."""
    if not hasattr(os, "geteuid"):
        return None
    if status.st_uid != os.geteuid():
        return f"it belongs to the user number {status.st_uid}"
    return "others may write to it" if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) else None

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
import functools
import importlib
import os
import re
import stat
import sys
import warnings
from collections.abc import Callable
from typing import Any

FORMAT = "2"
LIMIT = 1 << 28  # bytes in all: beyond it the entries that were used longest ago go
TRIM_EVERY = 64  # entries written between two looks at the size, on average
DIGEST = 32
TEMPORARY = "new-"
CREATED = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
ENTRY = rf"[0-9a-f]{{64}}|{TEMPORARY}\w+"  # names that are ours; nothing else in the folder is touched

_told: set[str] = set()  # folders that the user knows not to be used


def _hash() -> Callable[[bytes], Any]:
    """A hash of so many bytes: what `hashlib` wraps, which loads OpenSSL too, unless only approved hashes are allowed here."""
    try:
        found = functools.partial(importlib.import_module("_blake2").blake2b, digest_size=DIGEST)
        found(b"")
    except (ImportError, ValueError):
        return importlib.import_module("hashlib").sha256  # type: ignore[no-any-return]
    return found


hashed = _hash()


def folder() -> str | None:
    """Where the entries are; None if there are to be none."""
    chosen = os.environ.get("ADJOINT_CACHE")
    if chosen is not None:
        return chosen or None
    name, other = ("LOCALAPPDATA", "~") if sys.platform == "win32" else ("XDG_CACHE_HOME", "~/.cache")
    base = os.environ.get(name) or os.path.expanduser(other)
    return None if base.startswith("~") else os.path.join(base, "adjoint", "native")  # nobody's home


def key_of(*parts: str) -> str:
    """The name of the entry for these parts."""
    return str(hashed("\0".join([FORMAT, *parts]).encode()).hexdigest())


def load(key: str) -> bytes | None:
    """An entry's contents; None where there is no sound one."""
    place = _usable()
    if place is None:
        return None
    path = os.path.join(place, key)
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
        os.makedirs(os.path.dirname(os.path.abspath(place)), exist_ok=True)
        with contextlib.suppress(FileExistsError):
            os.mkdir(place, 0o700)
        if _usable() is None:
            return
        name = os.path.join(place, TEMPORARY + os.urandom(8).hex())
        try:
            with open(os.open(name, CREATED, 0o600), "wb") as file:
                file.write(_digest(key, contents) + contents)
            os.replace(name, os.path.join(place, key))
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(name)
            return
    except OSError:
        return
    # Keys are evenly distributed, so they tell one write in so many, whichever process writes, and however few entries.
    if int(key[:8], 16) % TRIM_EVERY == 0:
        trim(place)


def trim(place: str, limit: int | None = None) -> None:
    """Delete the entries that were used longest ago, until the rest fits into `limit` bytes."""
    found = []
    with contextlib.suppress(OSError):
        for name in os.listdir(place):
            if re.fullmatch(ENTRY, name):
                with contextlib.suppress(OSError):
                    path = os.path.join(place, name)
                    status = os.stat(path)
                    found.append((status.st_mtime, status.st_size, path))
    total = sum(size for _, size, _ in found)
    for _, size, path in sorted(found):
        if total <= (LIMIT if limit is None else limit):
            break
        with contextlib.suppress(OSError):
            os.unlink(path)
            total -= size


def _digest(key: str, contents: bytes) -> bytes:
    return bytes(hashed(key.encode() + b"\0" + contents).digest())


def _read(path: str) -> bytes | None:
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


def _usable() -> str | None:
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
    if place not in _told:
        _told.add(place)
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

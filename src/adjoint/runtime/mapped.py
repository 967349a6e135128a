"""Object code put into memory without LLVM.

What LLVM makes of our functions refers to its own functions and constants alone, by their distance (ELF; System V ABI, AMD64
supplement). So its sections are copied into one block, the distances are filled in, and the block becomes executable. A program
whose code is all in the cache need not load LLVM, which takes longer than a short program.
"""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np

from adjoint.runtime.executable import Mapped, executable

__all__ = ["calls_outside", "mapped", "placed"]

SECTION = np.dtype([("name", "<u4"), ("type", "<u4"), ("flags", "<u8"), ("address", "<u8"), ("offset", "<u8"), ("size", "<u8"),
                    ("link", "<u4"), ("info", "<u4"), ("alignment", "<u8"), ("entry", "<u8")])  # fmt: skip
RELOCATION = np.dtype([("offset", "<u8"), ("type", "<u4"), ("symbol", "<u4"), ("addend", "<i8")])
SYMBOL = np.dtype(
    [("name", "<u4"), ("info", "u1"), ("other", "u1"), ("section", "<u2"), ("value", "<u8"), ("size", "<u8")]
)
CONTENTS, SYMBOLS, RELOCATIONS = 1, 2, 4  # kinds of sections: SHT_PROGBITS, SHT_SYMTAB, SHT_RELA
WRITTEN, LOADED, OF_THREADS = 1, 2, 0x400  # flags: SHF_WRITE, SHF_ALLOC, SHF_TLS
DISTANCE, CALL = 2, 4  # kinds of relocations: R_X86_64_PC32, R_X86_64_PLT32
FARTHEST = 1 << 31

Array = np.ndarray[Any, Any]


def mapped(contents: bytes) -> Mapped | None:
    """Object code in memory; None where it is none of x86's ELF, or refers to what isn't its own."""
    found = placed(contents)
    return None if found is None else executable(*found)


def placed(contents: bytes) -> tuple[bytes, dict[str, int]] | None:
    """The contents of the block that object code becomes, and where in it functions begin; None as above."""
    headers = _sections(contents)
    if headers is None:
        return None
    places: dict[int, int] = {}  # of the sections in the block
    size = 0
    for i, header in enumerate(headers):
        if header["flags"] & LOADED and header["size"]:
            if header["flags"] & (WRITTEN | OF_THREADS) or header["type"] != CONTENTS:
                return None
            places[i] = -(-size // max(int(header["alignment"]), 1)) * max(int(header["alignment"]), 1)
            size = places[i] + int(header["size"])
    if not size or max([int(headers[i]["alignment"]) for i in places]) > mmap.PAGESIZE:
        return None
    memory = np.zeros(size, np.uint8)
    for i, place in places.items():
        memory[place : place + int(headers[i]["size"])] = _table(contents, headers[i], np.dtype(np.uint8))
    for header in headers:
        target = places.get(int(header["info"]))
        if header["flags"] & LOADED or header["type"] in (CONTENTS, SYMBOLS) or target is None:
            continue
        if header["type"] == RELOCATIONS and not _fill_in(memory, contents, headers, header, places, target):
            return None
    return memory.tobytes(), _names(contents, headers, places)


def _fill_in(memory: Array, contents: bytes, headers: Array, header: Any, places: dict[int, int], target: int) -> bool:
    """Fill in the distances that a section of relocations asks for; False where it asks for something else."""
    entries = _table(contents, header, RELOCATION)
    used = _table(contents, headers[int(header["link"])], SYMBOL)[entries["symbol"]]
    starts = np.full(len(headers) + 1, -1, np.int64)
    starts[list(places)] = list(places.values())
    begins = starts[np.minimum(used["section"], len(headers))]  # of what is outside, or no section, -1
    known = (entries["type"] == DISTANCE) | (entries["type"] == CALL)
    if not known.all() or (begins < 0).any() or (used["section"] == 0).any():
        return False
    at = target + entries["offset"].astype(np.int64)
    distances = begins + used["value"].astype(np.int64) + entries["addend"] - at
    if (np.abs(distances) >= FARTHEST).any() or (at < 0).any() or (at + 4 > len(memory)).any():
        return False
    memory[at[:, None] + np.arange(4)] = distances.astype("<i4").view(np.uint8).reshape(-1, 4)
    return True


def _names(contents: bytes, headers: Array, places: dict[int, int]) -> dict[str, int]:
    """Where in the block each function that is seen from outside begins."""
    found: dict[str, int] = {}
    for header in headers:
        if header["type"] != SYMBOLS:
            continue
        texts = int(headers[int(header["link"])]["offset"])
        for symbol in _table(contents, header, SYMBOL):
            place = places.get(int(symbol["section"]))
            if place is not None and symbol["info"] >> 4:  # local ones have 0
                start = texts + int(symbol["name"])
                name = contents[start : contents.index(b"\0", start)].decode()
                found[name] = place + int(symbol["value"])
    return found


def calls_outside(contents: bytes) -> bool:
    """Whether object code calls functions of elsewhere, as `memcpy`; True for what isn't x86's ELF.

    Where the address space is in pieces, LLVM's own memory manager may put code and its constants more than 2 GB apart, which
    LLVM meets by ending the process. llvmlite's takes one block for all of it, but doesn't count the table that such calls need,
    and ends the process as well.
    """
    headers = _sections(contents)
    if headers is None:
        return True
    for header in headers:
        if header["type"] != RELOCATIONS:
            continue
        entries = _table(contents, header, RELOCATION)
        names = _table(contents, headers[int(header["link"])], SYMBOL)
        calls = entries["symbol"][entries["type"] == CALL]
        if (names["section"][calls] == 0).any():
            return True
    return False


def _sections(contents: bytes) -> Array | None:
    """The headers of the sections; None for what isn't x86's ELF."""
    if contents[:5] != b"\x7fELF\x02" or contents[18:20] != b"\x3e\x00":  # 64 bits, x86-64
        return None
    start, size, count = (
        int.from_bytes(contents[at : at + n], "little") for at, n in ((0x28, 8), (0x3A, 2), (0x3C, 2))
    )
    return np.frombuffer(contents, SECTION, count, start) if size == SECTION.itemsize and count else None


def _table(contents: bytes, header: Any, kind: np.dtype[Any]) -> Array:
    """What a section holds, as records of a kind."""
    return np.frombuffer(contents, kind, int(header["size"]) // kind.itemsize, int(header["offset"]))

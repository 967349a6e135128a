"""Numbers in the files that TensorBoard reads: records of events, each a message of protocol buffers.

A record is its length (8 bytes), a checksum of that (4), the message, and a checksum of the message (4). An event holds the
time (a double, field 1), the step (2), and a version (3) or a summary (5); a summary holds values (1), each a tag (1) and a
number (a float, 2). See `core/util/event.proto`, `core/framework/summary.proto` and `core/lib/io/record_writer.cc` of
TensorFlow.
"""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Self

import numpy as np

from adjoint import _files

__all__ = ["TensorBoard", "read_events"]

NAME = "events.out.tfevents"
POLYNOMIAL = 0x82F63B78  # CRC-32C (Castagnoli), its bits reversed


def _table() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (POLYNOMIAL if byte & 1 else 0)
        table.append(byte)
    return table


TABLE = _table()


def _checksum(data: bytes) -> bytes:
    """The CRC-32C of the data, turned and shifted as the format has it, so that sums of sums aren't alike."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def _record(message: bytes) -> bytes:
    length = struct.pack("<Q", len(message))
    return length + _checksum(length) + message + _checksum(message)


def _count(number: int) -> bytes:
    """A number in groups of seven bits, the lowest first."""
    groups = []
    while number > 127:
        groups.append(number & 127 | 128)
        number >>= 7
    return bytes([*groups, number])


def _field(number: int, content: bytes) -> bytes:
    """A field of text or of a message."""
    return _count(number << 3 | 2) + _count(len(content)) + content


def _event(moment: float, step: int, values: dict[str, float]) -> bytes:
    with np.errstate(over="ignore"):  # what float32 lacks is infinity
        numbers = {tag: np.float32(value).astype("<f4").tobytes() for tag, value in values.items()}
    summary = b"".join(_field(1, _field(1, tag.encode()) + b"\x15" + number) for tag, number in numbers.items())
    return b"\x09" + struct.pack("<d", moment) + b"\x10" + _count(step) + _field(5, summary)


class Appended:
    """A file that is held open, and added to."""

    _file: IO[Any]

    def close(self) -> None:
        """End the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class TensorBoard(Appended):
    """Adds numbers by step to a file in a folder, for `tensorboard --logdir`.

    `after` is the step at which a resumed run goes on: events of later steps are removed first. Raises OSError where it
    can't be written.

    >>> import adjoint as ad, tempfile
    >>> with tempfile.TemporaryDirectory() as folder, ad.train.TensorBoard(folder) as board:
    ...     board.write(step=1, loss=0.5, epoch=1)
    ...     next(ad.train.read_events(folder))
    (1, {'loss': 0.5, 'epoch': 1.0})
    """

    def __init__(self, folder: str | os.PathLike[str], after: int | None = None) -> None:
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        first = _record(b"\x09" + struct.pack("<d", time.time()) + _field(3, b"brain.Event:2"))
        kept = [] if after is None else [record for step, _, record in _records(path / NAME) if 0 < step <= after]
        with _files.replacing(path / NAME) as file:
            file.write(b"".join([first, *kept]))
        self._file = open(path / NAME, "ab")  # noqa: SIM115  (held open until `close`)

    def write(self, step: int, **numbers: Any) -> None:
        """Add numbers of a step, by name; what is no number is left out."""
        self.add(step, numbers)

    def add(self, step: int, numbers: Mapping[str, Any]) -> None:
        """Add numbers of a step, by names that may be anything; what is no number is left out."""
        values = {name: float(value) for name, value in numbers.items() if isinstance(value, int | float)}
        self._file.write(_record(_event(time.time(), step, values)))
        self._file.flush()


def read_events(folder: str | os.PathLike[str]) -> Iterator[tuple[int, dict[str, float]]]:
    """The steps and numbers of the file that a `TensorBoard` wrote, up to the first record that isn't whole.

    >>> import adjoint as ad, tempfile
    >>> with tempfile.TemporaryDirectory() as folder, ad.train.TensorBoard(folder) as board:
    ...     board.write(step=3, loss=0.25)
    ...     list(ad.train.read_events(folder))
    [(3, {'loss': 0.25})]
    """
    for step, values, _ in _records(Path(folder) / NAME):
        if step:
            yield step, values


def _records(path: Path) -> Iterator[tuple[int, dict[str, float], bytes]]:
    """The events of a file: step, numbers, and the record itself."""
    data, place = path.read_bytes() if path.exists() else b"", 0
    while place + 12 <= len(data):
        length = int.from_bytes(data[place : place + 8], "little")
        message = data[place + 12 : place + 12 + length]
        end = place + 16 + length
        if _checksum(data[place : place + 8]) != data[place + 8 : place + 12] or data[end - 4 : end] != _checksum(
            message
        ):
            return
        fields = dict(_fields(message))
        values = [dict(_fields(value)) for number, value in _fields(fields.get(5, b"")) if number == 1]
        yield fields.get(2, 0), {value[1].decode(): value[2] for value in values}, data[place:end]
        place = end


def _fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """The fields of a message: their numbers, and what is in them."""
    place = 0

    def count() -> int:
        nonlocal place
        number = shift = 0
        while True:
            byte = message[place]
            place += 1
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number

    while place < len(message):
        key = count()
        if key & 7 == 0:
            yield key >> 3, count()
            continue
        size = {1: 8, 5: 4}[key & 7] if key & 7 != 2 else count()
        content = message[place : place + size]
        place += size
        yield key >> 3, content if key & 7 == 2 else struct.unpack("<d" if size == 8 else "<f", content)[0]

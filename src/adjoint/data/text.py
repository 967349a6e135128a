"""The characters of a text, as numbers to learn from."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path
from typing import Any

import numpy as np

from adjoint import _optional

__all__ = ["Characters", "characters", "read_text", "tokenizer"]


@dataclasses.dataclass(frozen=True)
class Characters:
    """A text as numbers: `codes` (N,) int64 count the characters of `vocabulary`, which is sorted and has no doubles."""

    vocabulary: str
    codes: np.ndarray

    def __len__(self) -> int:
        return len(self.codes)

    def encode(self, text: str) -> np.ndarray:
        """The numbers of these characters, (N,) int64. Raises ValueError for characters that aren't in the vocabulary."""
        return _encode(text, self.vocabulary)

    def decode(self, codes: np.ndarray) -> str:
        """The text that these numbers (N,) stand for. Raises IndexError for numbers outside of the vocabulary."""
        found = np.asarray(codes)
        if found.size and not 0 <= found.min() <= found.max() < len(self.vocabulary):
            raise IndexError(
                f"characters: codes from {found.min()} to {found.max()}, but the vocabulary has {len(self.vocabulary)}"
            )
        return "".join(self.vocabulary[code] for code in found.tolist())

    def split(self, share: float = 0.1) -> tuple[Characters, Characters]:
        """The text without its last part, and that part (a tenth of it by default), with the same vocabulary."""
        cut = len(self.codes) - int(share * len(self.codes))
        return Characters(self.vocabulary, self.codes[:cut]), Characters(self.vocabulary, self.codes[cut:])

    def contexts(self, length: int, stride: int = 1) -> tuple[np.ndarray, np.ndarray]:
        """Pieces of `length` characters and, for each, the same piece one character further: what follows each character.

        Two arrays (M, length) of int64, one row for every `stride`-th place where a piece can start; they are views of
        the codes and take no memory, and a `DataLoader` takes them as they are. Raises ValueError when the text is
        shorter than `length + 1` characters.
        """
        if length < 1 or stride < 1:
            raise ValueError(f"characters: length and stride must be at least 1; they are {length} and {stride}")
        if len(self.codes) <= length:
            raise ValueError(
                f"characters: a text of {len(self.codes)} characters is too short for contexts of {length}"
            )
        pieces = np.lib.stride_tricks.sliding_window_view(self.codes, length + 1)[::stride]
        return pieces[:, :-1], pieces[:, 1:]


def characters(path: str | os.PathLike[str] | None = None, *, text: str | None = None) -> Characters:
    """The characters of a text file (UTF-8), or of a text, as numbers.

    >>> import adjoint as ad
    >>> chars = ad.data.characters(text="banana")
    >>> chars.vocabulary, chars.codes.tolist()
    ('abn', [1, 0, 2, 0, 2, 0])
    >>> [piece.tolist() for piece in chars.contexts(3, stride=2)]
    [[[1, 0, 2], [2, 0, 2]], [[0, 2, 0], [0, 2, 0]]]

    Raises OSError where the file can't be read, ValueError when it isn't UTF-8 or is empty.
    """
    if (path is None) == (text is None):
        raise ValueError("characters: give a path, or text=")
    if text is None:
        assert path is not None
        text = read_text(path)
    if not text:
        raise ValueError(f"{path or 'the text'} is empty: there is nothing to learn from")
    vocabulary = "".join(sorted(set(text)))
    return Characters(vocabulary, _encode(text, vocabulary))


def tokenizer(path: str | os.PathLike[str]) -> Any:
    """The tokenizer of a model from elsewhere: of a `tokenizer.json`, or of the folder that holds one.

    It is an object of the package `tokenizers`: `encode(text).ids` are numbers, `decode(numbers)` is text. Raises OSError where
    there is no such file, ValueError when it can't be read, ImportError without the package.
    """
    library = _optional.load("tokenizers", purpose="a tokenizer", extra="text")
    file = Path(path) / "tokenizer.json" if Path(path).is_dir() else Path(path)
    text = read_text(file)
    try:
        return library.Tokenizer.from_str(text)
    except Exception as error:  # the package raises the bare class
        raise ValueError(f"{file} holds no tokenizer: {error}") from error


def read_text(path: str | os.PathLike[str]) -> str:
    """A text file in UTF-8. Raises OSError where it can't be read, ValueError when it isn't UTF-8."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} isn't a text in UTF-8: {error}") from error


def _encode(text: str, vocabulary: str) -> np.ndarray:
    # Characters as 32-bit numbers, found in the sorted vocabulary by bisection: a megabyte in milliseconds.
    known = np.frombuffer(vocabulary.encode("utf-32-le"), np.uint32)
    given = np.frombuffer(text.encode("utf-32-le"), np.uint32)
    codes = np.minimum(np.searchsorted(known, given), max(len(known) - 1, 0)).astype(np.int64)
    strange = given != known[codes] if len(known) else np.ones(len(given), bool)
    if strange.any():
        wrong = "".join(sorted({chr(code) for code in given[strange].tolist()}))
        raise ValueError(f"characters: {wrong!r} is not in the vocabulary {vocabulary!r}")
    return codes

"""Data sets: samples by number or one after the other, parts and joins of them, files."""

from __future__ import annotations

import bisect
import contextlib
import csv as csv_files
import itertools
import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from adjoint import _optional
from adjoint.tensors import Tensor
from adjoint.tensors.located import at_user

from .samplers import permutation, sample_numbers

__all__ = [
    "ChainDataset", "ConcatDataset", "Dataset", "ImageFolder", "IterableDataset", "Subset", "TensorDataset", "random_split",
    "read_csv", "read_parquet",
]  # fmt: skip

IMAGES = (".bmp", ".gif", ".jpeg", ".jpg", ".pgm", ".png", ".ppm", ".tif", ".tiff", ".webp")


class Dataset:
    """Base of data sets with samples by number: a subclass defines `__getitem__` and `__len__`.

    >>> import adjoint as ad
    >>> class Squares(ad.data.Dataset):
    ...     def __len__(self):
    ...         return 5
    ...
    ...     def __getitem__(self, number):
    ...         return number, number**2
    >>> next(iter(ad.data.DataLoader(Squares(), 3)))
    (Tensor([0, 1, 2]), Tensor([0, 1, 4]))
    """

    def __getitem__(self, number: int) -> Any:
        raise NotImplementedError(f"{type(self).__name__} defines no __getitem__")

    def __add__(self, other: Any) -> ConcatDataset:
        return ConcatDataset([self, other])


class IterableDataset:
    """Base of data sets that give samples one after the other: a subclass defines `__iter__`.

    >>> import adjoint as ad
    >>> class Count(ad.data.IterableDataset):
    ...     def __iter__(self):
    ...         return iter(range(5))
    >>> [batch.tolist() for batch in ad.data.DataLoader(Count(), 2)]
    [[0, 1], [2, 3], [4]]
    """

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__} defines no __iter__")

    def __add__(self, other: Any) -> ChainDataset:
        return ChainDataset([self, other])


class ChainDataset(IterableDataset):
    """Iterable data sets one after the other.

    >>> import adjoint as ad
    >>> list(ad.data.ChainDataset([[1, 2], [3]]))
    [1, 2, 3]
    """

    def __init__(self, datasets: Sequence[Any]) -> None:
        self.datasets = list(datasets)

    def __iter__(self) -> Iterator[Any]:
        return itertools.chain.from_iterable(self.datasets)


class TensorDataset(Dataset):
    """Rows of tensors or arrays of one length: sample i is the tuple of their rows i. Raises ValueError when lengths differ.

    >>> import adjoint as ad
    >>> ad.data.TensorDataset(ad.tensor([1.0, 2.0]), ad.tensor([3, 4]))[1]
    (Tensor(2.), Tensor(4))
    """

    def __init__(self, *tensors: Any) -> None:
        lengths = [len(tensor) for tensor in tensors]
        if not lengths or len(set(lengths)) > 1:
            raise ValueError(f"TensorDataset: tensors must be of one length; they have {lengths} rows{at_user()}")
        self.tensors = tensors

    def __getitem__(self, number: int) -> tuple[Any, ...]:
        return tuple([tensor[number] for tensor in self.tensors])

    def __len__(self) -> int:
        return len(self.tensors[0])

    @property
    def columns(self) -> tuple[np.ndarray, ...]:
        """The arrays, of which a loader takes whole batches at once."""
        return tuple([tensor.numpy() if isinstance(tensor, Tensor) else np.asarray(tensor) for tensor in self.tensors])


class Subset(Dataset):
    """The samples of these numbers. Raises TypeError for what isn't whole numbers, such as a mask.

    >>> import adjoint as ad
    >>> list(ad.data.Subset([10, 20, 30], [2, 0]))
    [30, 10]
    """

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = sample_numbers("Subset", indices)

    def __getitem__(self, number: int) -> Any:
        return self.dataset[self.indices[number]]

    def __len__(self) -> int:
        return len(self.indices)


class ConcatDataset(Dataset):
    """The samples of several data sets, one set after the other. Raises ValueError for none.

    >>> import adjoint as ad
    >>> ad.data.ConcatDataset([[10, 20], [30]])[2]
    30
    """

    def __init__(self, datasets: Sequence[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise ValueError(f"ConcatDataset: there are no data sets{at_user()}")
        self.ends = list(itertools.accumulate(len(dataset) for dataset in self.datasets))

    def __getitem__(self, number: int) -> Any:
        if not -len(self) <= number < len(self):
            raise IndexError(f"ConcatDataset has {len(self)} samples; there is none at {number}")
        number %= len(self)
        place = bisect.bisect_right(self.ends, number)
        return self.datasets[place][number - (self.ends[place - 1] if place else 0)]

    def __len__(self) -> int:
        return self.ends[-1]


def random_split(dataset: Any, lengths: Sequence[float], seed: int = 0) -> list[Subset]:
    """A data set in random parts of these lengths, or of these shares of it, which sum to 1.

    The remainder of shares goes one by one to the first parts. Raises ValueError when lengths don't sum to the data set's.

    >>> import adjoint as ad
    >>> [len(part) for part in ad.data.random_split(range(10), [0.75, 0.25])]
    [8, 2]
    """
    count = len(dataset)
    sizes = [int(n) for n in lengths]
    if abs(sum(lengths) - 1) < 1e-9:
        sizes = [int(count * share) for share in lengths]
        for i in range(count - sum(sizes)):
            sizes[i % len(sizes)] += 1
    if sum(sizes) != count or min(sizes, default=0) < 0:
        raise ValueError(f"random_split: lengths {list(lengths)} don't sum to {count} samples, nor to 1{at_user()}")
    order, ends = permutation(count, seed, 0), list(itertools.accumulate(sizes))
    return [Subset(dataset, order[end - size : end].tolist()) for size, end in zip(sizes, ends, strict=True)]


class ImageFolder(Dataset):
    """Images in a folder for each class: sample i is the image (H, W, C), uint8, and its class's number. Pillow reads them;
    images of more than 8 bits keep their numbers.

    Classes are the folders' names in alphabetical order (`classes`, `class_to_idx`), files those with the ending of an image
    format, at any depth, in order of their names (`samples`: paths and classes). `transform(image)` changes an image,
    `target_transform(number)` a class; without a transform, images of one size are needed for batches. Grey images have one
    channel. Raises ValueError when there are no classes or one has no images, ImportError without Pillow, OSError for an image
    that can't be read.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        transform: Callable[[np.ndarray], Any] | None = None,
        target_transform: Callable[[int], Any] | None = None,
    ) -> None:
        self.root = Path(root)
        self.transform = transform
        self.target_transform = target_transform
        self.classes = sorted(entry.name for entry in self.root.iterdir() if entry.is_dir())
        self.class_to_idx = {name: number for number, name in enumerate(self.classes)}
        self.samples = [
            (path, number)
            for name, number in self.class_to_idx.items()
            for path in sorted((self.root / name).rglob("*"))
            if path.suffix.lower() in IMAGES and not path.is_dir()
        ]
        if not self.samples:
            raise ValueError(f"ImageFolder: {root} has no images in folders of classes{at_user()}")
        if empty := sorted(set(self.classes) - {self.classes[number] for _, number in self.samples}):
            raise ValueError(f"ImageFolder: there are no images in the folders {', '.join(empty)} of {root}{at_user()}")

    def __getitem__(self, number: int) -> tuple[Any, Any]:
        path, label = self.samples[number]
        library = _optional.load("PIL.Image", purpose="reading images", extra="data")
        try:
            with library.open(path) as file:
                # Pillow would cut off what is above 255 in images of more bits, so these stay as they are.
                as_they_are = file.mode in ("L", "RGB", "RGBA", "F") or file.mode.startswith("I")
                grey = "L" if file.mode == "1" else "RGB"
                array = np.asarray(file if as_they_are else file.convert(grey))
        except OSError as error:  # of a file that ends too early it doesn't say which
            raise OSError(f"ImageFolder: {path} can't be read: {error}") from error
        image = array if array.ndim == 3 else array[:, :, None]
        return (
            image if self.transform is None else self.transform(image),
            label if self.target_transform is None else self.target_transform(label),
        )

    def __len__(self) -> int:
        return len(self.samples)


def read_csv(path: str | os.PathLike[str], delimiter: str = ",") -> dict[str, np.ndarray]:
    """The columns of a CSV file with a headline, by name: int64 or float64 where all entries are numbers, else text.

    An empty entry in a column of numbers is NaN. A loader takes the dictionary as it is. Raises OSError where the file can't be
    read, ValueError when a row has another number of entries than the headline, two columns have one name, or an entry is too
    long (131,072 characters). Warns of a headline that looks like a row (all numbers, or one with a fraction),
    and of one column in whose name another delimiter is.
    """
    with Path(path).open(newline="", encoding="utf-8-sig") as file:
        try:
            rows = [row for row in csv_files.reader(file, delimiter=delimiter) if row]
        except csv_files.Error as error:
            raise ValueError(f"read_csv: {path} can't be read: {error}{at_user()}") from error
    if not rows:
        raise ValueError(f"read_csv: {path} is empty{at_user()}")
    names = [name.strip() for name in rows[0]]
    if len(set(names)) < len(names):
        raise ValueError(f"read_csv: the headline of {path} names a column twice: {', '.join(names)}{at_user()}")
    numbers = [name for name in names if name and _column([name]).dtype.kind != "U"]
    if len(numbers) == len(names) or any("." in name for name in numbers):
        warnings.warn(
            f"read_csv: the first line of {path} is its headline, and names a column {numbers[0]}, which is a number. If it is a "
            f"row, write a line of names above it{at_user()}",
            UserWarning,
            stacklevel=2,
        )
    other = next((mark for mark in ";\t|" if mark in names[0]), None) if len(names) == 1 else None
    if other is not None:
        warnings.warn(
            f"read_csv: {path} has one column, {names[0]!r}. If these are several, write delimiter={other!r}{at_user()}",
            UserWarning,
            stacklevel=2,
        )
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(names):
            raise ValueError(
                f"read_csv: row {number} of {path} has {len(row)} entries, the headline {len(names)}{at_user()}"
            )
    return {name: _column([row[i].strip() for row in rows[1:]]) for i, name in enumerate(names)}


def _column(entries: list[str]) -> np.ndarray:
    if not any("_" in entry for entry in entries):  # Python takes 1_000 for a number
        for kind, dtype in ((int, np.int64), (float, np.float64)):
            with contextlib.suppress(ValueError, OverflowError):
                return np.array([kind(entry) if entry or kind is int else float("nan") for entry in entries], dtype)
    return np.array(entries)


EXACT = 1 << 53  # up to which float64 has each whole number


def read_parquet(path: str | os.PathLike[str], columns: str | Sequence[str] | None = None) -> dict[str, np.ndarray]:
    """The columns of a Parquet file, or those named, by name. A loader takes the dictionary as it is.

    A number that is missing is NaN; where that would round whole numbers (beyond 2⁵³), they are Python's and None is missing. A
    column of lists of numbers, all of one length, has an axis more. Raises OSError where the file can't be read, ValueError where
    it is no Parquet file, has no such column, or two of one name, ImportError without the package `pyarrow`.
    """
    library = _optional.load("pyarrow.parquet", purpose="reading Parquet files", extra="data")
    dataset = library.ParquetDataset(os.fspath(path))
    names = dataset.schema.names
    wanted = [columns] if isinstance(columns, str) else columns
    missing = [name for name in wanted or () if name not in names]
    if missing:
        raise ValueError(
            f"read_parquet: {path} has no column {', '.join(missing)}; it has {', '.join(names)}{at_user()}"
        )
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"read_parquet: two columns of {path} have the name {twice!r}{at_user()}")
    found = dataset.read(columns=None if wanted is None else list(wanted))
    return {name: _stacked(_array_of(found[name])) for name in found.column_names}


def _array_of(column: Any) -> np.ndarray:
    """A column as an array: whole numbers beside missing ones as floats, if these are the same numbers."""
    array = np.asarray(column.to_numpy())
    if "int" in str(column.type) and array.dtype.kind == "f" and (np.abs(array) > EXACT).any():
        return np.array(column.to_pylist(), object)
    return array


def _stacked(column: np.ndarray) -> np.ndarray:
    """A column of arrays of numbers of one shape as one array; any other as it is."""
    arrays = (
        [x for x in column if isinstance(x, np.ndarray) and x.dtype.kind in "biuf"] if column.dtype.hasobject else []
    )
    alike = len(arrays) == len(column) > 0 and len({x.shape for x in arrays}) == 1
    return np.stack(arrays) if alike else column

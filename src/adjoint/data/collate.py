"""Samples put together as a batch."""

from __future__ import annotations

import copy
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

import numpy as np

from adjoint.dtypes import default_dtype
from adjoint.tensors import Tensor
from adjoint.tensors.functions import asarray, stack

__all__ = ["default_collate", "default_convert"]


def default_collate(batch: Sequence[Any]) -> Any:
    """Samples of one form as one batch: arrays and numbers stacked along a new first axis, containers field by field.

    A sample is an array, a tensor, a number, text, or a dictionary, tuple, named tuple or list of these; numbers become an array
    (Python floats of the default dtype), texts a list. Tensors keep their gradients. Raises ValueError when shapes or lengths
    differ, TypeError for anything else.

    >>> import adjoint as ad
    >>> ad.data.default_collate([{"x": [1.0, 2.0], "label": 0}, {"x": [3.0, 4.0], "label": 1}])
    {'x': [Tensor([1., 3.]), Tensor([2., 4.])], 'label': Tensor([0, 1])}
    """
    return converted(batch, tensors=True)


def converted(batch: Sequence[Any], tensors: bool) -> Any:
    """A batch of samples, of tensors or (`tensors=False`) of NumPy arrays."""
    first = batch[0]
    if isinstance(first, Tensor):
        _check_shapes([sample.shape for sample in batch])
        return stack(list(batch)) if tensors else np.stack([sample.numpy() for sample in batch])
    if isinstance(first, str | bytes):
        return list(batch)
    if isinstance(first, np.ndarray | np.generic):
        _check_shapes([np.shape(sample) for sample in batch])
        return _finished(np.stack(list(batch)), tensors)
    if isinstance(first, bool | int | float):
        _check_kinds(batch, bool | int | float | np.bool_ | np.number)
        kind = default_dtype().dtype if any(isinstance(sample, float) for sample in batch) else None
        array = np.array(batch, kind)
        if array.dtype.hasobject:
            raise OverflowError("default_collate: an integer has more than 64 bits; give a collate_fn")
        return _finished(array, tensors)
    if isinstance(first, Mapping):
        _check_kinds(batch, Mapping)
        for number, sample in enumerate(batch):
            if not first.keys() <= sample.keys():
                raise ValueError(
                    f"default_collate: sample 0 of the batch has {list(first)}, sample {number} has {list(sample)}"
                )
        return alike(first, {key: converted([sample[key] for sample in batch], tensors) for key in first})
    if isinstance(first, tuple | list):
        _check_kinds(batch, tuple | list)
        if any(len(sample) != len(first) for sample in batch):
            raise ValueError(
                f"default_collate: samples have {sorted({len(s) for s in batch})} fields; give a collate_fn"
            )
        fields = [converted(list(field), tensors) for field in zip(*batch, strict=True)]
        if hasattr(first, "_fields"):
            return type(first)(*fields)
        return tuple(fields) if isinstance(first, tuple) else fields
    if hasattr(first, "__array__") or hasattr(first, "__array_interface__"):
        return converted([np.asarray(sample) for sample in batch], tensors)
    raise TypeError(
        f"default_collate: a sample is made of arrays, numbers, texts and containers of these, not {type(first).__name__}; "
        "give a collate_fn"
    )


def alike(sample: Mapping[Any, Any], fields: dict[Any, Any]) -> Any:
    """Fields as a mapping of the sample's class; as a dict, where that can't be made of one."""
    if type(sample) is dict:
        return fields
    try:
        if isinstance(sample, MutableMapping):
            made = copy.copy(sample)  # keeps what else it has, such as the factory of a defaultdict
            made.update(fields)
            return made
        return type(sample)(fields)  # type: ignore[call-arg]
    except TypeError:
        return fields


def _check_kinds(batch: Sequence[Any], kinds: Any) -> None:
    for number, sample in enumerate(batch):
        if not isinstance(sample, kinds):
            raise TypeError(
                f"default_collate: sample 0 of the batch has {type(batch[0]).__name__} where sample {number} has "
                f"{type(sample).__name__}; give a collate_fn"
            )


def _check_shapes(shapes: Sequence[tuple[int, ...]]) -> None:
    if any(shape != shapes[0] for shape in shapes):
        found = ", ".join(sorted({str(shape) for shape in shapes}))
        raise ValueError(
            f"default_collate: samples of one batch have the shapes {found}; give a collate_fn that pads them"
        )


def _finished(array: np.ndarray, tensors: bool) -> Any:
    return asarray(array, copy=False) if tensors and array.dtype.kind in "biufc" else array


def default_convert(sample: Any, tensors: bool = True) -> Any:
    """One sample as it is, its arrays and numbers as tensors: what a loader without batches gives.

    >>> import adjoint as ad
    >>> ad.data.default_convert({"x": 1.5, "name": "a"})
    {'x': Tensor(1.5), 'name': 'a'}
    """
    if isinstance(sample, Mapping):
        return alike(sample, {key: default_convert(value, tensors) for key, value in sample.items()})
    if isinstance(sample, tuple | list):
        fields = [default_convert(value, tensors) for value in sample]
        return type(sample)(*fields) if hasattr(sample, "_fields") else type(sample)(fields)
    if isinstance(sample, np.ndarray | np.generic):
        return _finished(np.array(sample), tensors) if tensors else sample
    return asarray(sample) if tensors and isinstance(sample, bool | int | float) else sample

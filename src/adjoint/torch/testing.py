"""torch.testing: whether two results are close."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from adjoint.tensors.located import at_user

from ._missing import getter
from ._names import refuse
from ._tensor import Core, torch_tensor

__all__ = ["assert_allclose", "assert_close"]

TOLERANCES = {  # PyTorch's: by how much of the expected value, and by how much, two numbers may differ
    "float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7),
    "complex64": (1.3e-6, 1e-5), "complex128": (1e-7, 1e-7),
}  # fmt: skip


def assert_close(
    actual: Any, expected: Any, *, allow_subclasses: bool = True, rtol: float | None = None, atol: float | None = None,
    equal_nan: bool = False, check_device: bool = True, check_dtype: bool = True, check_layout: bool = True,
    check_stride: bool = False, msg: str | Callable[[str], str] | None = None,
) -> None:  # fmt: skip
    """Raise AssertionError unless two tensors, arrays, numbers, or sequences or mappings of these, are close.

    They have the same shapes, unless `check_dtype` is False dtypes, and |actual - expected| <= atol + rtol * |expected|, with
    PyTorch's tolerances for their dtype. Raises TypeError where two kinds of things are compared, or what isn't numbers.

    >>> import adjoint.torch as torch
    >>> torch.testing.assert_close(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0 + 1e-6]))
    """
    refuse("assert_close", "allow_subclasses", allow_subclasses, True)
    refuse("assert_close", "check_stride", check_stride, False)
    if (rtol is None) != (atol is None):
        raise ValueError(f"assert_close: rtol and atol are given both or neither{at_user()}")
    found = _difference(actual, expected, rtol, atol, equal_nan, check_dtype, "")
    if found is not None:
        raise AssertionError(msg(found) if callable(msg) else found if msg is None else msg)


def assert_allclose(
    actual: Any,
    expected: Any,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = True,
    msg: str = "",
) -> None:
    """`assert_close` with other defaults: NaN equals NaN, and dtypes may differ."""
    assert_close(actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_dtype=False, msg=msg or None)


def _difference(
    actual: Any, expected: Any, rtol: Any, atol: Any, equal_nan: bool, check_dtype: bool, where: str
) -> str | None:
    """What differs; None where nothing does."""
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        if set(actual) != set(expected):
            return f"The keys of the mappings do not match:\n{sorted(actual, key=str)} and {sorted(expected, key=str)}"
        pairs = [(actual[key], expected[key], key) for key in actual]
    elif _is_sequence(actual) and _is_sequence(expected):
        if len(actual) != len(expected):
            return f"The length of the sequences mismatch: {len(actual)} != {len(expected)}"
        pairs = [(*pair, i) for i, pair in enumerate(zip(actual, expected, strict=True))]
    elif actual is None or expected is None:
        return None if actual is expected else f"None mismatch: {actual} is not {expected}"
    else:
        return _of_numbers(actual, expected, rtol, atol, equal_nan, check_dtype, where)
    for one, other, key in pairs:
        found = _difference(one, other, rtol, atol, equal_nan, check_dtype, f"{where}[{key!r}]")
        if found is not None:
            return found
    return None


def _is_sequence(x: Any) -> bool:
    return isinstance(x, Sequence) and not isinstance(x, str)


def _of_numbers(
    actual: Any, expected: Any, rtol: Any, atol: Any, equal_nan: bool, check_dtype: bool, where: str
) -> str | None:
    scalar = isinstance(actual, numbers.Number) and isinstance(expected, numbers.Number)
    x, y = _array("actual", actual), _array("expected", expected)
    if not scalar and isinstance(actual, Core) != isinstance(expected, Core):
        raise TypeError(
            f"assert_close: {type(actual).__name__} and {type(expected).__name__} are of different kinds; use "
            f"torch.tensor{at_user()}"
        )
    item = f"\n\nThe failure occurred for item {where}" if where else ""
    if x.shape != y.shape:
        return f"The values for attribute 'shape' do not match: {_size(x)} != {_size(y)}.{item}"
    if check_dtype and not scalar and x.dtype != y.dtype:
        return f"The values for attribute 'dtype' do not match: torch.{x.dtype} != torch.{y.dtype}.{item}"
    if rtol is None:
        of_both = [TOLERANCES.get(str(a.dtype), (0.0, 0.0)) for a in (x, y)]
        rtol, atol = (max(part) for part in zip(*of_both, strict=True))
    kind = np.result_type(x, y)
    if x.dtype.name == "bfloat16" or kind.kind not in "cfiu":
        kind = np.dtype(np.float32 if kind.kind not in "b" else np.int64)
    x, y = x.astype(kind), y.astype(kind)
    with np.errstate(all="ignore"):
        apart, allowed = np.abs(x - y), atol + rtol * np.abs(y)
        if kind.kind in "iu":  # unsigned ones wrap around
            apart = np.where(x > y, x - y, y - x)
        wrong = ~((x == y) | (np.isfinite(y) & (apart <= allowed)) | (equal_nan & (x != x) & (y != y)))
        relative = apart / np.abs(y)
    if not wrong.any():
        return None
    if scalar or not wrong.ndim:
        return (
            f"Scalars are not close!\n\nExpected {y.item()} but got {x.item()}.\nAbsolute difference: {apart.item()} (up to "
            f"{atol} allowed)\nRelative difference: {relative.item()} (up to {rtol} allowed){item}"
        )
    lines = [f"Mismatched elements: {wrong.sum()} / {wrong.size} ({wrong.sum() / wrong.size:.1%})"]
    for name, values, most in (("absolute", apart, atol), ("relative", relative, rtol)):
        at = np.unravel_index(np.argmax(np.where(wrong, values, -1)), values.shape)
        lines.append(f"Greatest {name} difference: {values[at]} at index {tuple(map(int, at))} (up to {most} allowed)")
    return "Tensor-likes are not close!\n\n" + "\n".join(lines) + item


def _size(x: Any) -> str:
    return f"torch.Size({list(x.shape)})"


def _array(name: str, x: Any) -> Any:
    if isinstance(x, (Core, np.ndarray, np.generic, numbers.Number)):
        return torch_tensor(x).detach().numpy() if isinstance(x, Core) else np.asarray(x)
    raise TypeError(
        f"assert_close: {name} is a {type(x).__name__}; tensors, numbers and containers of them are compared{at_user()}"
    )


__getattr__ = getter("torch.testing", globals())

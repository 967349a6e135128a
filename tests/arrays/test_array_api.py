"""What the Array API standard asks beside values: namespaces, dtypes, devices, memory shared. Its public suite does the rest."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from support import double, equal


def test_a_tensor_names_its_namespace() -> None:
    t = ad.ones(2)
    assert t.__array_namespace__() is ad is t.__array_namespace__(api_version="2025.12")
    assert ad.__array_api_version__ == "2025.12"
    with pytest.raises(ValueError, match=r"not '2031.12' \(.*test_array_api"):
        t.__array_namespace__(api_version="2031.12")


def test_array_api_compat_recognises_the_package() -> None:
    compat = pytest.importorskip("array_api_compat")
    t = ad.ones(2)
    assert compat.is_array_api_obj(t)
    assert compat.array_namespace(t, ad.zeros(3)) is ad
    assert compat.device(t) == "cpu" and compat.to_device(t, "cpu") is t and compat.size(t) == 2


def test_code_for_any_namespace_has_derivatives() -> None:
    def standardised(x):
        xp = x.__array_namespace__()
        return xp.sum(((x - xp.mean(x)) / xp.std(x, correction=1)) ** 4)

    ad.check_grads(standardised, (double([1.0, 2.0, 4.0, 0.5]),))


def test_there_is_one_device() -> None:
    t = ad.zeros((2, 3), device="cpu")
    assert t.to_device("cpu") is t
    for wrong in (lambda: ad.ones(2, device="cuda"), lambda: t.to_device("gpu"), lambda: ad.asarray([1], device="mps")):
        with pytest.raises(ValueError, match=r"'cpu'.*test_array_api\.py"):
            wrong()
    info = ad.__array_namespace_info__()
    assert info.devices() == ("cpu",) and info.default_device() == "cpu"


def test_default_dtypes_are_told() -> None:
    info = ad.__array_namespace_info__()
    assert info.default_dtypes()["real floating"] is ad.float32
    ad.set_default_dtype("float64")
    try:
        assert info.default_dtypes()["complex floating"] is ad.complex128
    finally:
        ad.set_default_dtype("float32")
    assert set(info.dtypes(kind="unsigned integer")) == {"uint8", "uint16", "uint32", "uint64"}


def test_limits_of_dtypes() -> None:
    assert ad.finfo(ad.complex64) == ad.finfo(ad.ones(1)) == ad.finfo("float32")
    assert (ad.iinfo(ad.int16).min, ad.iinfo(ad.int16).max, ad.iinfo(ad.int16).bits) == (-32768, 32767, 16)
    for wrong in (lambda: ad.finfo(ad.int8), lambda: ad.iinfo(ad.float32)):
        with pytest.raises(TypeError, match="test_array_api"):
            wrong()
    with pytest.raises(ValueError, match="real floating"):
        ad.isdtype(ad.float32, "floating")
    assert ad.float64 != None  # noqa: E711 - NumPy takes None for float64


def test_numbers_adapt_in_result_type() -> None:
    assert ad.result_type(ad.ones(1), 1, 2.0) is ad.float32
    assert ad.result_type(ad.int8, 300) is ad.int8
    assert ad.result_type(ad.int32, 1.5) is ad.float32
    assert ad.result_type(ad.float64, 1j) is ad.complex128
    assert ad.result_type(1, 2.0) is ad.float32
    with pytest.raises(ValueError, match="at least one"):
        ad.result_type()


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def test_dlpack_shares_memory_both_ways() -> None:
    t = ad.arange(1000.0)
    out = np.from_dlpack(t)
    assert address(out) == address(t.numpy()) and not out.flags.writeable
    theirs = np.arange(3.0)
    assert address(ad.from_dlpack(theirs).numpy()) == address(theirs)
    assert address(ad.from_dlpack(theirs, copy=True).numpy()) != address(theirs)
    with pytest.raises(TypeError, match="no __dlpack__"):
        ad.from_dlpack([1.0])


def test_who_doesnt_know_read_only_memory_gets_a_copy() -> None:
    class Old:
        """A consumer of DLPack before 1.0, which writes into what it imports."""

        def __init__(self, tensor):
            self.tensor = tensor

        def __dlpack__(self, **keywords):
            return self.tensor.__dlpack__()

        def __dlpack_device__(self):
            return self.tensor.__dlpack_device__()

    t = ad.tensor([1.0, 2.0])
    imported = np.from_dlpack(Old(t))
    assert address(imported) != address(t.numpy())


def test_unique_values_have_the_derivatives_of_the_elements() -> None:
    x = double([2.0, 1.0, 2.0, 3.0])
    found = ad.grad(lambda x: (ad.unique_values(x) * double([1.0, 10.0, 100.0])).sum())(x)
    equal(found, [10.0, 1.0, 0.0, 100.0])
    assert ad.unique_inverse(ad.tensor([[3, 1], [1, 1]])).inverse_indices.shape == (2, 2)


def test_batched_search() -> None:
    rows, sought = np.sort(np.random.default_rng(0).normal(size=(4, 6))), np.linspace(-1, 1, 10).reshape(2, 5)
    expected = [np.searchsorted(row, sought) for row in rows]
    equal(ad.vmap(lambda row: ad.searchsorted(row, sought))(ad.tensor(rows)), expected)
    both = ad.vmap(ad.vmap(ad.searchsorted), in_axes=(None, 0))(
        ad.tensor(rows), ad.tensor(np.stack([rows, rows + 0.5]))
    )
    equal(both, [[np.searchsorted(r, r + d) for r in rows] for d in (0.0, 0.5)])
    equal(ad.jit(lambda x: ad.isin(x, [1.0, 3.0]))(ad.tensor([1.0, 2.0, 3.0])), [True, False, True])
    order = np.array([2, 0, 1])
    equal(ad.searchsorted(ad.tensor([2.0, 3.0, 1.0]), 2.5, sorter=order), 2)
    with pytest.raises(ValueError, match="one axis, got shape"):
        ad.searchsorted(ad.ones((2, 2)), 1.0)
    with pytest.raises(ValueError, match="'left' or 'right'"):
        ad.searchsorted(ad.ones(2), 1.0, side="middle")


def test_pinv_and_rank_take_a_bound_for_each_matrix() -> None:
    x = np.random.default_rng(1).normal(size=(2, 3, 3))
    rtol = np.array([0.0, 0.5])
    equal(ad.linalg.pinv(ad.tensor(x), rtol=ad.tensor(rtol)), np.linalg.pinv(x, rtol=rtol))
    equal(ad.linalg.matrix_rank(ad.tensor(x), rtol=rtol), np.linalg.matrix_rank(x, rtol=rtol))

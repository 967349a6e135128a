"""Arrays that tensors give to NumPy: read-only for good, whoever makes the view."""

from __future__ import annotations

import gc
import pickle
import sys
import weakref

import numpy as np
import pytest

import adjoint as ad
from adjoint.execution.native import frames
from adjoint.runtime import entries, frozen


@pytest.fixture
def maker():
    """What makes views, which is put back."""
    frames.loop_address()
    (before,) = frozen.maker
    yield frozen.maker
    frozen.maker[0] = before


@pytest.fixture(params=["native", "buffer"])
def way(request, maker):
    """Views are made by native code once that is there, else of a read-only buffer."""
    if request.param == "buffer":
        maker[0] = None
    elif maker[0] is None:
        pytest.skip("an interpreter, or a NumPy, whose objects have another layout")
    return request.param


ARRAYS = {
    "float32": np.arange(6, dtype="f").reshape(2, 3),
    "complex128": np.arange(3) * 1j,
    "bool": np.array([True, False]),
    "uint8": np.arange(4, dtype="u1"),
    "int64": np.array(3),
    "empty": np.zeros((0, 3)),
    "many axes": np.arange(64.0).reshape((2,) * 6),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_a_view_is_read_only_for_good(way, name):
    given = ARRAYS[name]
    t = ad.tensor(given)
    for view in (t.numpy(), np.asarray(t), t.numpy()[...], t.numpy().reshape(-1), t.numpy().view()):
        assert type(view) is np.ndarray and view.dtype == given.dtype and not view.flags.owndata
        np.testing.assert_array_equal(view.reshape(given.shape), given)
        assert np.shares_memory(view, t.node.value) or not given.size
        with pytest.raises(ValueError, match="WRITEABLE"):
            view.flags.writeable = True
        with pytest.raises(ValueError, match="read-only"):
            view[...] = 0
    assert t.numpy().copy().flags.writeable
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(t.numpy())), given)


def test_bfloat16(way):
    pytest.importorskip("ml_dtypes")
    t = ad.tensor([1.0, 2.0], dtype="bfloat16")
    view = t.numpy()
    assert not view.flags.writeable and view.dtype == t.node.value.dtype and view.shape == (2,)
    assert view.tobytes() == t.node.value.tobytes()


def test_a_view_of_what_is_not_in_order(way):
    t = ad.evaluate(ad.flip(ad.permute_dims(ad.tensor(np.arange(12.0).reshape(3, 4)), (1, 0)), axis=0))
    np.testing.assert_array_equal(t.numpy(), np.arange(12.0).reshape(3, 4).T[::-1])
    strided = np.arange(12.0).reshape(3, 4).T[::2]
    view = ad.tensors.conversion.read_only(strided)
    assert view.strides == strided.strides and np.shares_memory(view, strided)
    np.testing.assert_array_equal(view, strided)


def test_a_view_keeps_the_memory_and_nothing_else_does(way):
    t = ad.tensor(np.arange(1000.0))
    value, view = weakref.ref(t.node.value), t.numpy()
    part = view[10:20]
    del t, view
    gc.collect()
    assert value() is not None and part.tolist() == list(range(10, 20))
    del part
    gc.collect()
    assert value() is None


def test_views_count_references_right(way):
    t = ad.tensor(np.arange(3.0))
    held = t.node.value, t.node.value.dtype, np.ndarray, frozen.VALUE
    t.numpy()
    before = [sys.getrefcount(x) for x in held]
    for _ in range(2000):
        t.numpy()
    assert [sys.getrefcount(x) for x in held] == before


def test_tensors_of_a_view_share_its_memory(way):
    t = ad.tensor(np.arange(6.0).reshape(2, 3))
    view = t.numpy()
    for given in (view, view[1], view.reshape(-1)):
        assert np.shares_memory(ad.asarray(given).numpy(), view)
    own = np.arange(6.0)
    other = np.frombuffer(bytearray(own.tobytes()))
    for changes in (own, other):
        changes.flags.writeable = False
        assert not np.shares_memory(ad.asarray(changes).numpy(), changes)


def test_a_jitted_function_reads_a_large_view(way):
    big = ad.tensor(np.arange(1e5)).numpy()  # lies in what nobody else can write to
    f = ad.jit(lambda x: (x * big).sum())
    for k in (2.0, 3.0):
        assert f(ad.tensor(np.full(100_000, k))).item() == k * big.sum()
    assert len(f.traces) == 1


def test_the_memory_of_a_value_that_somebody_looks_at_is_not_written_over(way):
    w = ad.variable(np.zeros(1 << 15))

    @ad.jit
    def step():
        w.data += 1.0

    for k in range(4):
        view = w.numpy()
        step()
        assert view[0] == k and w.numpy()[-1] == k + 1


def test_what_is_no_array_is_no_view(maker):
    (made,) = maker
    if made is None:
        pytest.skip("an interpreter, or a NumPy, whose objects have another layout")
    for wrong in ("text", None, np.float64(1.0), np.ma.masked_array([1.0])):
        with pytest.raises(SystemError):
            made((frozen.VALUE, wrong))


def test_another_numpy_is_left_alone(maker, monkeypatch):
    maker[0] = None
    monkeypatch.setattr(frozen, "VERSIONS", ())
    frozen.install(1)  # an address that mustn't be called
    assert maker[0] is None


def test_code_that_makes_something_else_is_not_used(maker, monkeypatch):
    maker[0] = None
    monkeypatch.setattr(entries, "made", lambda *given: lambda pair: pair[1].copy())
    frozen.install(1)
    assert maker[0] is None

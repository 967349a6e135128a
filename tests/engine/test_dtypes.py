"""Which dtype comes out, and what integers and complex numbers mean for derivatives."""

from __future__ import annotations

import array

import numpy as np
import pytest

import adjoint as ad
from support import double, equal

# ---- dtypes ----------------------------------------------------------------------------------------------------------

SIGNED, UNSIGNED = ("int8", "int16", "int32", "int64"), ("uint8", "uint16", "uint32", "uint64")
FLOATING = ("float32", "float64", "complex64", "complex128")
ALL = ("bool", *SIGNED, *UNSIGNED, *FLOATING)


@pytest.mark.parametrize("left", ALL)
def test_promotion_of_arrays(left: str) -> None:
    """The Array API's table; beyond it an integer or a bool with a float gives that float."""
    for right in ALL:
        pair = {left, right}
        if "uint64" in pair and pair & set(SIGNED):
            continue  # no integer holds both: undefined in the standard
        kinds = [np.dtype(name).kind for name in (left, right)]
        if set(kinds) & set("fc") and set(kinds) & set("biu"):
            expected = left if kinds[0] in "fc" else right
        else:
            expected = str(np.result_type(left, right))
        found = ad.add(ad.ones((2,), dtype=left), ad.ones((2,), dtype=right))
        assert found.dtype == getattr(ad, expected), (left, right)
        assert str(found.numpy().dtype) == expected


def test_python_scalars_never_widen() -> None:
    for name in FLOATING:
        x = ad.ones((2,), dtype=name)
        for y in (
            x + 1,
            1 + x,
            x * 2.5,
            2.5 - x,
            x / 3,
            1 / x,
            x**2,
            x**0.5,
            2.0**x,
            x + True,
            ad.where(x == 1, x, 0.0),
        ):
            assert y.dtype == getattr(ad, name)
    for name in (*SIGNED, *UNSIGNED):
        x = ad.ones((2,), dtype=name)
        for y in (x + 1, 1 + x, x * 2, x // 2, x % 2, x**2, x + True, ad.maximum(x, 1)):
            assert y.dtype == getattr(ad, name)
        assert (x * 2.5).dtype == ad.float32
        assert (x / 2).dtype in (ad.float32, ad.float64)
    assert (ad.ones((2,), dtype="float32") * 1j).dtype == ad.complex64
    assert (ad.ones((2,), dtype="float64") * 1j).dtype == ad.complex128


def test_what_python_values_become() -> None:
    assert ad.tensor(1.5).dtype == ad.tensor([1.5, 2]).dtype == ad.float32
    assert ad.tensor([1, 2]).dtype == ad.int64 and ad.tensor(True).dtype == ad.bool
    assert ad.tensor(1j).dtype == ad.complex64
    assert ad.tensor(np.array([1.0])).dtype == ad.float64 and ad.tensor(np.float64(1)).dtype == ad.float64
    assert ad.tensor(np.array([1], "int16")).dtype == ad.int16
    assert ad.tensor([1.0], dtype="float64").dtype == ad.tensor([1.0], dtype=ad.float64).dtype == ad.float64
    assert ad.tensor([1.0], dtype=np.float64).dtype == ad.float64
    ad.set_default_dtype("float64")
    assert ad.get_default_dtype() == ad.float64
    assert ad.tensor(1.5).dtype == ad.zeros((2,)).dtype == ad.random.normal((2,)).dtype == ad.float64
    assert ad.tensor(1j).dtype == ad.complex128


def test_mixing_with_numpy_arrays() -> None:
    x, array = ad.variable([1.0, 2.0], dtype="float64"), np.array([10.0, 20.0])
    for y, expected in (
        (x + array, [11, 22]),
        (array + x, [11, 22]),
        (array - x, [9, 18]),
        (array / x, [10, 10]),
        (array**x, [10, 400]),
    ):
        assert isinstance(y, ad.Tensor) and y.requires_grad and y.dtype == ad.float64
        equal(y, expected)
    assert isinstance(array @ x, ad.Tensor)
    assert isinstance(array < x, ad.Tensor)
    assert isinstance(np.float64(2) * x, ad.Tensor)


@pytest.mark.filterwarnings("ignore::adjoint.PrecisionWarning")
def test_casts_give_gradients_in_the_dtype_of_the_input() -> None:
    x = ad.variable([1.0, 2.0], dtype="float64")
    (x.astype("float32") * 3).sum().backward()
    assert x.grad.dtype == ad.float64
    equal(x.grad, [3.0, 3.0])
    y = ad.variable([1.0, 2.0])
    (y * ad.tensor([3.0, 4.0], dtype="float64")).sum().backward()
    assert y.grad.dtype == ad.float32
    equal(y.grad, [3.0, 4.0])


# ---- integers, complex -----------------------------------------------------------------------------------------------


def test_integers_have_no_cotangent_and_pass_through_containers() -> None:
    tree = {"w": double([1.0, 2.0]), "n": ad.tensor([3, 4]), "flag": ad.tensor(True)}

    def f(tree: dict[str, ad.Tensor]) -> ad.Tensor:
        return (tree["w"] * tree["n"]).sum()

    found = ad.grad(f)(tree)
    equal(found["w"], [3.0, 4.0])
    assert found["n"] is None and found["flag"] is None
    _, pullback = ad.vjp(f, tree)
    (cotangent,) = pullback(double(2.0))
    equal(cotangent["w"], [6.0, 8.0])
    assert cotangent["n"] is None
    _, tangent = ad.jvp(f, (tree,), ({"w": double([1.0, 1.0]), "n": None, "flag": None},))
    equal(tangent, 7.0)


def test_integer_outputs_have_no_tangent() -> None:
    (value, index), (tangent, none) = ad.jvp(
        lambda x: (x.max(), ad.argmax(x)), (double([1.0, 5.0]),), (double([1.0, 2.0]),)
    )
    equal(value, 5.0)
    assert index.item() == 1 and none is None
    equal(tangent, 2.0)


def test_a_bare_integer_argument_is_an_error_and_another_argument_may_be_one() -> None:
    for bad in (ad.tensor([1, 2]), ad.tensor(True)):
        with pytest.raises(TypeError, match=r"int64|bool|integer"):
            ad.grad(lambda x: (x * 1.5).sum())(bad)
    with pytest.raises(TypeError, match=r"int64|integer"):
        ad.variable([1, 2])
    equal(ad.grad(lambda x, n: x**n)(double(2.0), ad.tensor(3)), 12.0)


def test_gradient_through_integers_is_zero() -> None:
    equal(ad.grad(lambda x: (x.astype("int64") * 2.0 + ad.floor(x)).sum())(double([1.5, 2.5])), [0.0, 0.0])


def test_complex_gradients_are_pytorchs() -> None:
    """dL/dre + i dL/dim, for L = |z|^2 and L = Re(a z)."""
    z, a = ad.variable(np.array([1 + 2j, -0.5j])), np.array([2 - 1j, 3 + 1j])
    (abs(z) ** 2).sum().backward()
    equal(z.grad, 2 * z.numpy())
    z.grad = None
    ad.real(z * a).sum().backward()
    equal(z.grad, a.conj())
    assert z.grad.dtype == ad.complex128
    x = ad.variable(np.array([1.0, 2.0]))
    ad.imag(x * a).sum().backward()
    equal(x.grad, a.imag)
    assert x.grad.dtype == ad.float64


def test_a_complex_output_has_no_gradient_of_its_own() -> None:
    with pytest.raises((TypeError, RuntimeError)):
        ad.grad(lambda z: z * z)(ad.tensor(np.complex128(1 + 1j)))
    equal(ad.grad(lambda z: z * z, holomorphic=True)(ad.tensor(np.complex128(1 + 1j))), 2 + 2j)


def test_numpys_scalars_keep_their_dtype_alone_and_adapt_beside_an_array() -> None:
    two = np.float64(2)
    assert (
        ad.sin(two).dtype
        == ad.grad(lambda x: x * x)(two).dtype
        == ad.jvp(ad.exp, (two,), (two,))[1].dtype
        == ad.float64
    )
    assert ad.hessian(lambda x: x**3)(two).item() == 12
    x = ad.ones(3)
    for y in (x * two, two * x, ad.maximum(x, two), ad.where(x > 0, two, x), ad.clip(x, two, two), ad.hypot(two, x)):
        assert y.dtype == ad.float32


@pytest.mark.parametrize("code", ["f", "d"])
def test_buffers_keep_their_dtype(code: str) -> None:
    buffer = array.array(code, [0.1, 0.2])
    for given in (buffer, memoryview(buffer), [buffer, buffer]):
        found = ad.tensor(given)
        assert found.dtype.dtype == np.dtype(code)
        np.testing.assert_array_equal(found.numpy(), np.asarray(given))


def test_an_integer_that_no_dtype_has() -> None:
    with pytest.raises(TypeError, match="an int: an integer that no dtype has"):
        ad.tensor([1, 2**70])


@pytest.mark.parametrize("z", [1j, [1j, 0j, 1 + 0j, -0j, complex("nan")]])
def test_complex_numbers_are_true_where_either_part_is_not_zero(z: object) -> None:
    expected = np.asarray(z).astype("bool")
    x = ad.tensor(z)
    equal(x.astype("bool"), expected)
    f = ad.jit(lambda x: (x + 0).astype("bool"))
    for _ in range(3):
        equal(f(x), expected)


@pytest.mark.parametrize("value", [1j, ad.tensor([1j]), np.array([2.0 + 1j])])
@pytest.mark.parametrize("index", [slice(0, 1), [1], np.array([True, False, False])])
def test_imaginary_parts_are_not_lost_by_an_assignment(value: object, index: object) -> None:
    for dtype in ("float32", "int64"):
        x = ad.zeros(3, dtype=dtype)
        with pytest.raises(TypeError, match=rf"complex numbers into a {dtype} array.*test_dtypes"):
            x[index] = value
    x = ad.zeros(3, dtype="bool")
    x[index] = value if not isinstance(value, complex) else 1
    assert x.numpy().sum() == 1

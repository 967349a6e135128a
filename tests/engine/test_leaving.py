"""Programs in NumPy's style, and every way in which a value leaves the graph: the derivative is right, or there is an error.

Each snippet is a function of a vector v that NumPy can run too, so central differences of it on NumPy arrays say what the
gradient is. A snippet that isn't possible with tensors may raise; what it may not do is give another gradient.
"""

from __future__ import annotations

import copy
import logging
import math
import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import scipy.fft
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.optimize
import scipy.signal
import scipy.special
import scipy.stats

import adjoint as ad

POINT = np.array([0.8, 1.3, 0.4])
MATRIX = np.array([[2.0, 0.3, 0.1], [0.2, 1.5, 0.4], [0.3, 0.1, 1.8]])

# One expression a line, in v, a vector of three positive numbers, and A, a matrix.
EXPRESSIONS = """
np.sum(v**2)
np.sum(np.sin(v) * np.cos(v))
np.sum(np.exp(-v) / (1 + np.log1p(v)))
np.mean(v) + np.prod(v)
np.sum(v) ** 2 / np.max(v)
np.min(v) * np.max(v)
np.ptp(v) * v[0]
np.var(v) + np.std(v)
np.var(v, ddof=1)
np.std(v, ddof=1, keepdims=True)[0]
np.average(v, weights=[1, 2, 3])
np.median(v) * v[1]
np.percentile(v, 30)
np.quantile(v, 0.3)
np.sum(np.cumsum(v) * v)
np.sum(np.cumprod(v))
np.sum(np.diff(v) ** 2)
np.sum(np.gradient(v) ** 2)
np.sum(np.ediff1d(v) ** 2)
np.dot(v, v)
np.vdot(v, v)
np.inner(v, v)
np.sum(np.outer(v, v))
np.sum(np.kron(v, v))
np.sum(np.cross(v, [1.0, 2.0, 3.0]))
v @ A @ v
np.sum(A @ v)
np.sum(np.matmul(A, v) ** 2)
np.einsum("i,ij,j->", v, A, v)
np.sum(np.tensordot(A, v, axes=1))
np.trace(A * v)
np.linalg.norm(v)
np.linalg.norm(v, 1) + np.linalg.norm(v, np.inf)
np.linalg.norm(A * v)
np.linalg.det(A * v)
np.sum(np.linalg.inv(A * v))
np.sum(np.linalg.solve(A, v))
np.sum(np.linalg.solve(A * v, np.ones(3)))
np.linalg.slogdet(A * v)[1]
np.sum(np.linalg.eigvalsh(A + A.T + np.diag(v)))
np.sum(np.linalg.eigh(A + A.T + np.diag(v))[0] ** 2)
np.sum(np.linalg.svd(A * v, compute_uv=False))
np.sum(np.linalg.cholesky(A @ A.T + np.diag(v)))
np.sum(np.linalg.qr(A * v)[1] ** 2)
np.sum(np.linalg.pinv(A * v))
np.linalg.cond(A * v)
np.sum(np.linalg.matrix_power(A * v, 2))
np.sum(np.linalg.lstsq(A, v, rcond=None)[0])
np.linalg.multi_dot([v, A, v])
np.sum(np.where(v > 0.5, v**2, v))
np.sum(np.maximum(v, 0.5) + np.minimum(v, 1.0))
np.sum(np.clip(v, 0.5, 1.0) * v)
np.sum(v.clip(0.5, 1.0) * v)
np.sum(np.select([v > 1, v > 0.5], [v**2, v**3], v))
np.sum(np.piecewise(v, [v > 1], [lambda t: t**2, lambda t: t**3]))
np.sum(np.heaviside(v, 0.5) * v)
np.sum(np.abs(v - 1) * np.sign(v))
np.sum(np.floor(v) * v + np.ceil(v) * v)
np.sum(np.round(v) * v)
np.sum(v // 0.3 * v + v % 0.3)
np.sum(np.fmod(v, 0.3))
np.sum(np.divmod(v, 0.3)[1])
np.sum(np.modf(v)[0])
np.sum(np.power(v, v))
np.sum(np.float_power(v, 2.5))
np.sum(2.0**v)
np.sum(np.sqrt(v) + np.cbrt(v))
np.sum(np.square(v) + np.reciprocal(v))
np.sum(np.exp2(v) + np.expm1(v))
np.sum(np.log2(v) + np.log10(v))
np.sum(np.arctan2(v, 2.0) + np.hypot(v, 1.0))
np.sum(np.arcsinh(v) + np.tanh(v))
np.sum(np.degrees(v) + np.radians(v))
np.sum(np.deg2rad(v))
np.sum(np.sinc(v))
np.sum(np.i0(v))
np.sum(np.logaddexp(v, 1.0))
np.sum(np.logaddexp2(v, 1.0))
np.logaddexp.reduce(v)
np.add.reduce(v * v)
np.multiply.reduce(v)
np.add.accumulate(v)[1]
np.multiply.outer(v, v)[0, 1]
np.subtract.outer(v, v)[0, 1] ** 2
np.sum(np.nan_to_num(v) * v)
np.sum(np.real(v) * v + np.imag(v))
np.sum(np.angle(v + 1j))
np.sum(np.abs(v + 1j))
np.sum(np.conj(v) * v)
np.sum(np.copysign(v, -1.0))
np.sum(np.ldexp(v, 2))
np.sum(np.reshape(v, (3, 1)) * v)
np.sum(np.transpose(A * v) @ v)
np.sum((A * v).T @ v)
np.sum(np.concatenate([v, v**2]))
np.sum(np.concatenate((v[:1], [1.0], v[1:])) ** 2)
np.sum(np.stack([v, v**2]) ** 2)
np.sum(np.hstack([v, v**2]) ** 2)
np.sum(np.vstack([v, v**2]) ** 2)
np.sum(np.column_stack([v, v**2]) ** 2)
np.sum(np.dstack([v, v**2]) ** 2)
np.sum(np.block([[v, v**2]]) ** 2)
np.sum(np.append(v, v[0] ** 2))
np.sum(np.insert(v, 1, v[0] ** 2))
np.sum(np.delete(v, 1) ** 2)
np.sum(np.tile(v, 2) ** 2)
np.sum(np.repeat(v, 2) ** 2)
np.sum(np.roll(v, 1) * v)
np.sum(np.flip(v) * v)
np.sum(v[::-1] * v)
np.sum(np.flipud(v) * v)
np.sum(np.rot90(A * v) * A)
np.sum(np.pad(v, 1) ** 2)
np.sum(np.pad(v, 1, mode="edge") ** 2)
np.sum(np.pad(v, 1, constant_values=v[0]) ** 2)
np.sum(np.broadcast_to(v, (2, 3)) ** 2)
np.sum(np.expand_dims(v, 0) ** 2)
np.sum(np.squeeze(v[None]) ** 2)
np.sum(np.split(v, 3)[1] ** 2)
np.sum(np.array_split(v, 2)[0] ** 2)
np.sum(np.sort(v)[:2] ** 2)
np.sum(v[np.argsort(v)][:2] ** 2)
np.sum(np.partition(v, 1)[:1])
np.sum(np.take(v, [0, 0, 2]) ** 2)
np.sum(v[[0, 0, 2]] ** 2)
np.sum(v[v > 0.5] ** 2)
np.sum(np.compress([True, False, True], v) ** 2)
np.sum(np.extract(v > 0.5, v) ** 2)
np.sum(np.choose([0, 1, 0], [v, v**2]))
np.sum(np.diag(v) @ A)
np.sum(np.diagonal(A * v))
np.sum(np.tril(A * v) ** 2)
np.sum(np.triu(A * v) ** 2)
np.sum(np.vander(v, 3))
np.sum(np.eye(3) * v)
np.sum(np.identity(3) * v[0])
np.sum(np.full(3, v[0]) * v)
np.sum(np.full_like(v, v[0]) * v)
np.sum(np.full_like(np.zeros(3), v[0]) * v)
np.sum(np.zeros_like(v) + np.ones_like(v) * v)
np.sum(np.copy(v) * v)
np.sum(v.copy() * v)
np.sum(np.array(v) * v)
np.sum(np.asarray(v) * v)
np.sum(np.asarray(v, dtype=float) * v)
np.sum(np.ascontiguousarray(v) * v)
np.sum(np.array([v[0], v[1] ** 2]) ** 2)
np.sum(np.array([[v[0], 1.0], [2.0, v[1]]]) @ np.array([v[2], 1.0]))
np.sum(np.array([t**2 for t in v]))
np.sum(np.r_[v, v[0] ** 2])
np.sum(np.c_[v, v**2])
np.sum(np.fromiter((t**2 for t in v), float))
np.sum(np.array(list(v)) ** 2)
np.sum(np.asarray(v.tolist()) ** 2)
np.sum(np.linspace(v[0], v[1], 4) ** 2)
np.sum(np.linspace(0, 1, 3) * v)
np.sum(np.arange(v[0], 3.0))
np.sum(np.arange(3) * v)
np.sum(np.logspace(v[0], v[1], 3))
np.sum(np.geomspace(v[0], v[1], 3))
np.sum(np.meshgrid(v, v)[0] ** 2)
np.interp(v[0], [0.0, 1.0, 2.0], [0.0, 1.0, 4.0])
np.interp(0.5, [0.0, 1.0, 2.0], v)
np.trapezoid(v**2)
np.trapezoid(v, dx=0.1)
np.polyval(v, 2.0)
np.polyval([1.0, 2.0], v[0])
np.sum(np.polyfit([0.0, 1.0, 2.0], v, 1))
np.sum(np.convolve(v, [1.0, 2.0]))
np.sum(np.correlate(v, v, "full") ** 2)
np.sum(np.cov(v, v**2))
np.corrcoef(v, v**2)[0, 1]
np.sum(np.histogram(v, bins=2)[0]) * v[0]
np.sum(np.bincount([0, 1, 1], weights=v) ** 2)
np.sum(np.unwrap(v) ** 2)
np.sum(np.abs(np.fft.fft(v)) ** 2)
np.sum(np.fft.irfft(np.fft.rfft(v), 3) ** 2)
np.sum(np.apply_along_axis(lambda t: t**2, 0, v))
np.sum(np.vectorize(lambda t: t**2)(v))
np.sum(np.vectorize(math.sin)(v))
np.sum(np.frompyfunc(lambda t: t**2, 1, 1)(v))
np.sum(np.float64(v[0]) * v)
np.float64(v[0]) ** 2
np.sum(np.asarray(v[0]) * v)
np.sum(v.astype(float) * v)
np.sum(np.nansum(v) * v)
np.nanmean(v) * v[0]
np.nanmax(v) * v[0]
np.sum(np.sum(v * v, dtype=np.float64))
np.sum(v, initial=2.0)
np.sum(v, where=v > 0.5)
np.max(v, initial=1.0) * v[0]
np.sum(v * v, out=np.zeros(()))
np.sum(np.multiply(v, v, out=np.zeros(3)))
np.sum(np.add(np.ones(3), v, where=v > 0.5))
float(v[0]) * v[1]
int(v[1] * 3) * v[0]
v[0].item() * v[1]
complex(v[0]).real * v[1]
math.sin(v[0]) * v[1]
math.sqrt(v[0]) + v[1]
math.pow(v[0], 2)
math.floor(v[1]) * v[0] + math.ceil(v[1]) * v[0]
round(v[1]) * v[0]
abs(v[0]) * -v[1]
pow(v[0], 3)
divmod(v[0], 0.3)[1]
math.hypot(v[0], v[1])
math.fsum([v[0], v[1]])
math.prod(v)
math.dist([v[0]], [v[1]])
sum(v) ** 2
sum(t * t for t in v)
max(v) * min(v)
sorted(v)[0] ** 2
sum(map(float, v)) * v[0]
sum(a * b for a, b in zip(v, v[::-1]))
scipy.special.gamma(v[0])
np.sum(scipy.special.expit(v))
np.sum(scipy.special.erf(v))
scipy.special.logsumexp(v)
np.sum(scipy.special.softmax(v) * v)
np.sum(scipy.special.xlogy(v, v))
np.sum(scipy.special.jv(0, v))
np.sum(scipy.linalg.expm(A * v))
np.sum(scipy.linalg.solve(A, v))
np.sum(scipy.linalg.inv(A * v))
scipy.linalg.norm(v)
np.sum(np.abs(scipy.fft.fft(v)))
np.sum(scipy.signal.convolve(v, v))
np.sum(scipy.signal.fftconvolve(v, v))
scipy.integrate.quad(lambda t: v[0] * t, 0, 1)[0]
scipy.integrate.trapezoid(v**2)
scipy.integrate.simpson(v)
scipy.interpolate.interp1d([0.0, 1.0, 2.0], v)(0.5)
scipy.interpolate.CubicSpline([0.0, 1.0, 2.0], v)(0.5)
scipy.optimize.brentq(lambda t: t**2 - v[0], 0.0, 2.0)
scipy.optimize.fsolve(lambda t: t**2 - v[0], 1.0)[0]
scipy.stats.norm.logpdf(v[0])
np.sum(scipy.stats.norm.cdf(v))
np.random.default_rng(0).normal(v[0], 1.0)
np.sum(np.random.default_rng(0).normal(size=3) * v)
3.0
"""
SNIPPETS: dict[str, Callable[[Any], Any]] = {}
NAMES = {"np": np, "math": math, "scipy": scipy, "A": MATRIX}
for _line in filter(None, EXPRESSIONS.splitlines()):
    SNIPPETS[_line] = eval(f"lambda v: {_line}", dict(NAMES))


def snippet(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    SNIPPETS[function.__name__] = function
    return function


@snippet
def written_element_by_element(v: Any) -> Any:
    r = np.zeros(3)
    for i in range(3):
        r[i] = v[i] ** 2
    return np.sum(r)


@snippet
def written_as_a_slice(v: Any) -> Any:
    r = np.zeros(3)
    r[:] = v**2
    return np.sum(r)


@snippet
def written_into_a_matrix(v: Any) -> Any:
    r = np.eye(3)
    r[0] = v
    r[1, 1] = v[0]
    return np.sum(r @ v)


@snippet
def added_in_place(v: Any) -> Any:
    r = np.zeros(3)
    r += v**2
    return np.sum(r)


@snippet
def scaled_in_place(v: Any) -> Any:
    r = np.ones(3)
    r *= v
    return np.sum(r * v)


@snippet
def added_at(v: Any) -> Any:
    r = np.zeros(2)
    np.add.at(r, [0, 1, 1], v)
    return np.sum(r**2)


@snippet
def put(v: Any) -> Any:
    r = np.zeros(3)
    np.put(r, [0, 1], v[:2])
    return np.sum(r**2)


@snippet
def copied_to(v: Any) -> Any:
    r = np.zeros(3)
    np.copyto(r, v)
    return np.sum(r**2)


@snippet
def filled(v: Any) -> Any:
    r = np.zeros(3)
    r.fill(v[0])
    return np.sum(r**2)


@snippet
def appended(v: Any) -> Any:
    found = []
    for t in v:
        found.append(t**2)
    return np.sum(np.array(found))


@snippet
def collected_numbers(v: Any) -> Any:
    found = [t.item() for t in v]
    return np.sum(np.array(found) * v)


@snippet
def newton(v: Any) -> Any:
    x = v[0]
    for _ in range(20):
        x = x - (x**2 - v[1]) / (2 * x)
    return x


@snippet
def newton_until_it_is_near(v: Any) -> Any:
    x = v[0]
    while abs(x**2 - v[1]) > 1e-12:
        x = x - (x**2 - v[1]) / (2 * x)
    return x


@snippet
def runge_kutta(v: Any) -> Any:
    y = v[0]
    for _ in range(10):
        k = -v[1] * y
        y = y + 0.1 * (k + -v[1] * (y + 0.1 * k)) / 2
    return y


@snippet
def branches(v: Any) -> Any:
    if v[0].item() > 0.5 and float(v[1]) > 1:
        return v[0] ** 2
    return v[1]


@snippet
def a_branch_that_is_a_number(v: Any) -> Any:
    return 0.0 if v[0] > 0.5 else v[0]


@snippet
def printed_on_the_way(v: Any) -> Any:
    text = f"{v[0]:.3f} {v} {v[1].item():.2e} {v[0]:.1f}" + "%.2f" % v[2]  # noqa: UP031
    logging.getLogger("quiet").debug("%.3f", v[0])
    assert np.allclose(v, POINT, atol=1e-2) and not math.isnan(v[0]) and text
    return np.sum(v**2)


@snippet
def copied(v: Any) -> Any:
    return np.sum(copy.copy(v) * v)


@snippet
def copied_deeply(v: Any) -> Any:
    return np.sum(copy.deepcopy(v) * v)


@snippet
def pickled(v: Any) -> Any:
    return np.sum(pickle.loads(pickle.dumps(v)) * v)


@snippet
def a_dictionary_of_numbers(v: Any) -> Any:
    p = {"a": v[0], "b": v[1]}
    return np.sum(np.array([p["a"], p["b"]]) ** 2)


@snippet
def object_arrays(v: Any) -> Any:
    r = np.empty(3, object)
    for i in range(3):
        r[i] = v[i] ** 2
    return np.sum(r * r)


@snippet
def a_memoryview(v: Any) -> Any:
    return np.sum(np.frombuffer(memoryview(v)) * v)


@snippet
def through_dlpack(v: Any) -> Any:
    return np.sum(np.from_dlpack(v) * v)


@snippet
def by_the_array_interface(v: Any) -> Any:
    return np.sum(np.asarray(v.__array__()) * v)


# Read or copied by name: where no function is being differentiated, they give plain numbers and new variables as asked.
BY_NAME = ("float(v[0])", "int(v[1]", "v[0].item()", "complex(v[0])", "v.tolist()", "collected", "copied", "pickled")
# The last two are what SciPy makes of an error in a function that it calls.
RAISED = (TypeError, ValueError, RuntimeError, AttributeError, SystemError, scipy.optimize._minpack_py._minpack.error)


@pytest.fixture(autouse=True)
def double() -> Iterator[None]:
    ad.set_default_dtype("float64")
    yield
    ad.set_default_dtype("float32")


def differences(f: Callable[[Any], Any]) -> np.ndarray:
    h = 1e-6
    steps = h * np.eye(3)
    return np.array([float(np.sum(f(POINT + d)) - np.sum(f(POINT - d))) / (2 * h) for d in steps])


def by_grad(f: Callable[[Any], Any]) -> np.ndarray:
    return ad.grad(f)(ad.tensor(POINT)).numpy()


def by_vjp(f: Callable[[Any], Any]) -> np.ndarray:
    return ad.vjp(f, POINT)[1](1.0)[0].numpy()


def by_jvp(f: Callable[[Any], Any]) -> np.ndarray:
    return np.array([ad.jvp(f, (POINT,), (d,))[1].item() for d in np.eye(3)])


def by_jacobian(f: Callable[[Any], Any]) -> np.ndarray:
    return ad.jacobian(f)(ad.tensor(POINT)).numpy()


def by_linearize(f: Callable[[Any], Any]) -> np.ndarray:
    return np.array([ad.linearize(f, POINT)[1](d).item() for d in np.eye(3)])


def by_jit(f: Callable[[Any], Any]) -> np.ndarray:
    return ad.jit(ad.grad(f))(ad.tensor(POINT)).numpy()


def by_backward(f: Callable[[Any], Any]) -> np.ndarray:
    v = ad.variable(POINT)
    f(v).backward()
    return np.zeros(3) if v.grad is None else v.grad.numpy()


def right_or_raised(f: Callable[[Any], Any], way: Callable[[Any], np.ndarray], wanted: np.ndarray) -> bool:
    try:
        found = way(f)
    except RAISED as error:
        assert str(error)
        return False
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-7)
    return True


WAYS = (by_vjp, by_jvp, by_jacobian, by_linearize, by_jit)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", SNIPPETS)
def test_snippets(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    f = SNIPPETS[name]
    wanted = differences(f)
    right_or_raised(f, by_grad, wanted)
    if not name.startswith(BY_NAME):
        right_or_raised(f, by_backward, wanted)
    right_or_raised(f, WAYS[len(name) % len(WAYS)], wanted)


@pytest.mark.filterwarnings("ignore")
def test_what_works_goes_on_working() -> None:
    working = sum(right_or_raised(f, by_grad, differences(f)) for name, f in SNIPPETS.items() if "scipy" not in name)
    assert len(SNIPPETS) > 260 and working > 95


# ---- the rule ------------------------------------------------------------------------------------------------------------

LEAVING: dict[str, Callable[[Any], Any]] = {
    "item": lambda x: x.item(), "numpy": lambda x: x.numpy(), "tolist": lambda x: x.tolist(), "float": lambda x: float(x),
    "int": lambda x: int(x), "complex": lambda x: complex(x), "asarray": lambda x: np.asarray(x),
    "dlpack": lambda x: np.from_dlpack(x), "math": lambda x: math.sin(x), "list": lambda x: np.array([x, x]),
    "deepcopy": lambda x: copy.deepcopy(x), "pickling": lambda x: pickle.dumps(x), "a new variable": lambda x: ad.variable(x),
}  # fmt: skip
UNASKED = {"asarray", "dlpack", "math", "list"}
READING: dict[str, Callable[[Any], Any]] = {
    "percent": lambda x: "%.2f %d" % (x, x),  # noqa: UP031
    "format": lambda x: f"{x:.2f} {x} {x!r}", "item": lambda x: f"{x.item():.1f}",
    "comparison": lambda x: x.item() > 0, "of floats": lambda x: 1 < float(x) < 3, "of arrays": lambda x: x.numpy() >= 0,
    "in a while": lambda x: abs(x.item() - 1) / 2 > 3, "is near": lambda x: np.allclose(x, 2.0) and math.isclose(x, 2.0),
    "testing": lambda x: np.testing.assert_allclose(x, 2.0), "finite": lambda x: math.isfinite(x) and np.isfinite(x),
    "bool": lambda x: bool(x) and x > 1 and not x < 1, "str": lambda x: str(x.item()), "print": lambda x: print(float(x)),
    "logging": lambda x: logging.getLogger("adjoint.test").error("%.1f %s", x, x), "floor": lambda x: math.floor(x) + 1,
    "logging an item": lambda x: logging.getLogger("adjoint.test").error("%.1f", x.item()), "index": lambda x: (x > 1).item(),
    "in": lambda x: x.item() in (2.0, 3.0), "detached": lambda x: x.detach().item() + float(x.detach()),
    "array_equal": lambda x: np.array_equal(x, 2.0), "text": lambda x: np.array2string(x), "shape": lambda x: np.shape(x),
}  # fmt: skip


@pytest.mark.parametrize("name", LEAVING)
def test_nothing_leaves_a_function_that_is_differentiated(name: str) -> None:
    def f(x: Any) -> Any:
        LEAVING[name](x * 1)
        return x * x

    for way in (ad.grad(f), ad.jacfwd(f), ad.hessian(f), lambda x: ad.vjp(f, x), lambda x: ad.jvp(f, (x,), (1.0,))):
        with pytest.raises(RuntimeError, match=r"being differentiated[\s\S]*t\.detach\(\)[\s\S]*test_leaving\.py:\d+"):
            way(2.0)
    with ad.no_grad(), pytest.raises(RuntimeError, match="being differentiated"):  # it is differentiated all the same
        ad.grad(f)(2.0)


@pytest.mark.parametrize("name", LEAVING)
def test_what_leaves_elsewhere(name: str) -> None:
    x = ad.variable(2.0)
    y = x * 1
    if name in UNASKED:
        with pytest.raises(RuntimeError, match=r"is tracked[\s\S]*t\.numpy\(\)[\s\S]*test_leaving\.py:\d+"):
            LEAVING[name](y)
    else:
        LEAVING[name](y)
    with ad.no_grad():
        LEAVING[name](y)
    LEAVING[name](y.detach())


@pytest.mark.parametrize("name", READING)
def test_reading_is_free(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        READING[name](x)
        return x * x

    assert ad.grad(f)(2.0).item() == 4.0
    x = ad.variable(2.0)
    f(x).backward()
    assert x.grad.item() == 4.0


@pytest.mark.parametrize("kept", [
    lambda x: [y := x.item()] and y > 0, lambda x: max(x.item(), 0.0), lambda x: x.item() * 2, lambda x: [x.item()],
    lambda x: math.log(x), lambda x: str(x) and float(x), lambda x: -x.numpy(),
])  # fmt: skip
def test_reading_is_not_keeping(kept: Callable[[Any], Any]) -> None:
    with pytest.raises(RuntimeError, match="being differentiated"):
        ad.grad(lambda x: [kept(x)] and x)(2.0)


def test_what_the_function_is_not_differentiated_by_leaves() -> None:
    w = ad.variable(3.0)
    assert ad.grad(lambda x: x * w.item() * float(w))(2.0).item() == 9.0
    outer = ad.grad(lambda a: ad.grad(lambda x: x * a * a)(2.0) * a)  # inside, the outer function is differentiated too
    assert outer(2.0).item() == 12.0
    with pytest.raises(RuntimeError, match="being differentiated"):
        ad.grad(lambda a: ad.grad(lambda x: x * a.item())(2.0))(2.0)
    kept = []
    ad.grad(lambda x: kept.append(x * 2) or x * x)(2.0)
    assert kept[0].item() == 4.0  # later, nothing is being differentiated


@pytest.mark.parametrize("result", [
    lambda x: np.float64(3.0), lambda x: np.array(3.0), lambda x: x.detach().numpy() ** 2, lambda x: np.int64(2),
])  # fmt: skip
def test_a_result_without_a_graph(result: Callable[[Any], Any]) -> None:
    for way in (ad.grad(result), ad.jacobian(result), lambda x: ad.vjp(result, x), lambda x: ad.jvp(result, (x,), (1.0,)),
                lambda x: ad.linearize(result, x)):  # fmt: skip
        with pytest.raises(TypeError, match=r"doesn't depend on any graph[\s\S]*test_leaving\.py"):
            way(2.0)
    assert ad.grad(lambda x: 3.0)(2.0).item() == 0
    assert ad.grad(lambda x: ad.tensor(3.0))(2.0).item() == 0
    assert ad.value_and_grad(lambda x: (x * x, np.arange(3)), has_aux=True)(2.0)[1].item() == 4


# ---- tables and labelled arrays ------------------------------------------------------------------------------------------


class Labelled:
    """What pandas' Series does in an operation: arrays alone for the other operand, unless that has the higher priority."""

    __array_priority__ = 1000
    __pandas_priority__ = 3000
    __module__ = "pandas.core.series"

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.values

    def __mul__(self, other: Any) -> Any:
        if getattr(other, "__pandas_priority__", 0) > self.__pandas_priority__:
            return NotImplemented
        return Labelled(self.values * np.asarray(other))

    __rmul__ = __mul__

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        if any(getattr(x, "__array_priority__", 0) > self.__array_priority__ for x in inputs):
            return NotImplemented
        return Labelled(getattr(ufunc, method)(*map(np.asarray, inputs), **keywords))


@pytest.mark.parametrize("form", [
    lambda x, s: x * s, lambda x, s: s * x, lambda x, s: np.multiply(x, s), lambda x, s: np.multiply(s, x),
    lambda x, s: ad.multiply(s, x), lambda x, s: s.values * x, lambda x, s: ad.stack([x * s])[0],
])  # fmt: skip
def test_labelled_operands(form: Callable[[Any, Any], Any]) -> None:
    series = Labelled([2.0, 3.0, 5.0])
    for compiled in (False, True):
        gradient = ad.grad(lambda v: ad.sum(form(v, series)))
        found = ad.jit(gradient)(ad.tensor(POINT)) if compiled else gradient(ad.tensor(POINT))
        assert found.tolist() == [2.0, 3.0, 5.0]
    with pytest.raises(TypeError, match="a Labelled of pandas"):
        ad.grad(lambda v: series)(ad.tensor(POINT))


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore")
def test_pandas_and_xarray() -> None:
    pandas = pytest.importorskip("pandas")
    xarray = pytest.importorskip("xarray")
    s, d = pandas.Series([2.0, 3.0, 5.0]), xarray.DataArray([2.0, 3.0, 5.0], dims="t")
    frame = pandas.DataFrame({"a": [2.0], "b": [3.0], "c": [5.0]})
    right = [
        lambda v: v * s, lambda v: s * v, lambda v: np.multiply(s, v), lambda v: np.multiply(v, s), lambda v: v @ s,
        lambda v: frame * v, lambda v: v * frame, lambda v: pandas.Series([v[0], v[1], v[2]]) * s, lambda v: s.add(v) * s,
        lambda v: v * d, lambda v: d * v, lambda v: np.multiply(d, v), lambda v: (d * v).sum(),
        lambda v: xarray.Dataset({"a": d})["a"] * v,
    ]  # fmt: skip
    for f in right:
        for way in (ad.grad, lambda g: ad.jit(ad.grad(g))):
            assert way(lambda v, f=f: ad.sum(f(v)))(ad.tensor(POINT)).tolist() == [2.0, 3.0, 5.0]
    wrong = [
        lambda v: s @ v,
        lambda v: frame.mul(v),
        lambda v: pandas.Series(v),
        lambda v: frame.assign(c=v[:1]),
        lambda v: s,
    ]
    for f in wrong:
        with pytest.raises((TypeError, RuntimeError)):
            ad.grad(lambda v, f=f: f(v).sum())(ad.tensor(POINT))


def test_another_type_may_answer() -> None:
    class Quantity:
        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
            return "the quantity's own"

    assert np.heaviside(ad.tensor(1.0), Quantity()) == "the quantity's own"
    with pytest.raises(TypeError, match=r"histogram2d[\s\S]*rite it with[\s\S]*test_leaving\.py"):
        np.histogram2d(ad.tensor([1.0]), ad.tensor([1.0]))


def test_graphs_evaluated_with_other_values() -> None:
    v, u = ad.variable(3.0), ad.variable(1.0)
    y = v * v * u
    again = ad.function([v], [y])
    for f in (lambda x: ad.evaluate(y, {v: x}), lambda x: ad.evaluate(x * u, {u: 3.0}), lambda x: again(x)[0],
              lambda x: ad.function([u], [x * u])(2.0)[0]):  # fmt: skip
        with pytest.raises(RuntimeError, match="being differentiated"):
            ad.grad(f)(2.0)
    assert ad.grad(lambda x: x * ad.evaluate(y, {v: 4.0}) * again(4.0)[0])(2.0).item() == 256.0
    assert ad.grad(lambda x: ad.evaluate(x * x))(2.0).item() == 4.0


def test_a_state_that_is_loaded() -> None:
    layer = ad.nn.Linear(1, 1, bias=False)
    with pytest.raises(RuntimeError, match=r"load_state_dict\(\): the function is being differentiated"):
        ad.grad(lambda x: layer.load_state_dict({"weight": ad.reshape(x, (1, 1))}) or layer(ad.ones((1, 1))).sum())(2.0)
    layer.load_state_dict({"weight": ad.variable([[2.0]])})
    assert layer.weight.item() == 2.0


def test_masked_arrays() -> None:
    with pytest.raises(TypeError, match=r"masked array[\s\S]*filled"):
        ad.tensor([1.0, 2.0]) * np.ma.array([1.0, 2.0], mask=[False, True])
    assert (ad.tensor([1.0, 2.0]) * np.ma.array([1.0, 2.0])).tolist() == [1.0, 4.0]


@pytest.mark.parametrize(
    ("call", "instead"),
    [
        (lambda x: scipy.linalg.expm(ad.outer(x, x)), "here it is ad.linalg.expm"),
        (scipy.special.logsumexp, "here it is ad.special.logsumexp"),
        (scipy.fft.dct, "here it is ad.fft.dct"),
        (lambda x: scipy.signal.fftconvolve(x, x), "here it is ad.fft.fftconvolve"),
        (scipy.integrate.trapezoid, "here it is ad.trapezoid"),
        (scipy.stats.norm.logpdf, "are in ad.stats"),
        (lambda x: scipy.optimize.root(lambda t: t - x, np.zeros(2)), "here it is ad.scipy.root"),
        (scipy.integrate.simpson, "Use adjoint's own functions"),
    ],
)
def test_what_scipy_asks_for_leads_to_the_function_here(call: Any, instead: str) -> None:
    with pytest.raises(RuntimeError, match=rf"{instead}.*test_leaving.py"):
        ad.jvp(call, (np.array([0.3, 0.7]),), (np.ones(2),))
    with pytest.raises(RuntimeError, match=instead):
        call(ad.variable(np.array([0.3, 0.7])))


def _slope(x):
    v = ad.variable(x)
    return ad.gradients((v**3).sum(), [v])[0]


def _gathered(x):
    v = ad.variable(x)
    (v**3).sum().backward()
    return v.grad


@pytest.mark.parametrize("slope", [_slope, _gathered])
def test_variables_start_at_what_is_mapped_over(slope):
    x = ad.tensor([[1.0, 2.0], [3.0, 4.0]])
    expected = 3 * x.numpy() ** 2
    for mapped in (ad.vmap(slope), ad.jit(ad.vmap(slope)), ad.vmap(ad.jit(slope))):
        np.testing.assert_array_equal(mapped(x).numpy(), expected)
    w = ad.variable(2.0)
    np.testing.assert_array_equal(ad.vmap(lambda a: slope(a * w))(x).numpy(), 4 * expected)


def test_variables_start_inside_loops_and_branches():
    xs = ad.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert ad.scan(lambda c, a: (c + _slope(a).sum(), None), ad.tensor(0.0), xs)[0].item() == 90
    assert ad.fori_loop(0, 3, lambda i, c: c + 2 * ad.variable(c), ad.tensor(1.0)).item() == 27
    assert ad.cond(ad.tensor(True), _slope, lambda x: x, ad.tensor(2.0)).item() == 12


@pytest.mark.parametrize(
    "of",
    [
        lambda x: ad.vmap(_slope)(x).sum(),
        lambda x: ad.jit(_slope)(x).sum(),
        lambda x: ad.jit(ad.vmap(lambda a: ad.variable(a) * 2))(x).sum(),
        lambda x: ad.scan(lambda c, a: (c + ad.variable(a).sum(), None), ad.tensor(0.0), x)[0],
        _slope,
    ],
)
def test_a_derivative_that_would_end_at_a_new_variable_raises(of):
    x = ad.tensor([[1.0, 2.0], [3.0, 4.0]])
    of(x)
    for differentiated in (ad.grad(lambda x: of(x).sum()), ad.jit(ad.grad(lambda x: of(x).sum()))):
        with pytest.raises(RuntimeError, match="a new variable"):
            differentiated(x).numpy()
    constant = ad.grad(lambda x: of(x.detach()).sum() + x.sum())(x)
    np.testing.assert_array_equal(constant.numpy(), 1.0)

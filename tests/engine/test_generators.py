"""Random numbers: a seed reproduces, a draw is one value, and each distribution is what it says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import adjoint as ad
from support import equal

pytestmark = pytest.mark.usefixtures("equal_bits")

DRAWS: dict[str, Callable[[Any], ad.Tensor]] = {
    "normal": lambda source: source.normal((1000,)),
    "uniform": lambda source: source.uniform((1000,)),
    "integers": lambda source: source.integers(0, 1000, (1000,)),
    "permutation": lambda source: source.permutation(1000),
    "bernoulli": lambda source: source.bernoulli(0.5, (1000,)),
}


@pytest.mark.parametrize("name", DRAWS)
def test_a_seed_reproduces_and_draws_differ(name: str) -> None:
    draw = DRAWS[name]
    ad.random.seed(7)
    first, second = draw(ad.random), draw(ad.random)
    second_values, first_values = second.numpy(), first.numpy()  # in the other order than they were drawn
    assert (first_values != second_values).any()
    ad.random.seed(7)
    np.testing.assert_array_equal(draw(ad.random).numpy(), first_values)
    np.testing.assert_array_equal(draw(ad.random).numpy(), second_values)
    ad.random.seed(8)
    assert (draw(ad.random).numpy() != first_values).any()


@pytest.mark.parametrize("name", DRAWS)
def test_generators_are_apart_and_have_a_state_to_save(name: str) -> None:
    draw = DRAWS[name]
    one, other = ad.random.Generator(3), ad.random.Generator(3)
    draw(ad.random)
    np.testing.assert_array_equal(draw(one).numpy(), draw(other).numpy())
    saved = one.state
    assert isinstance(saved, ad.Tensor) and saved.dtype == ad.uint64 and saved.shape == (2,)
    saved = saved.numpy().copy()
    expected = draw(one).numpy()
    assert (one.state.numpy() != saved).any()
    one.state = ad.tensor(saved)
    np.testing.assert_array_equal(draw(one).numpy(), expected)
    other.state = ad.tensor(saved)
    np.testing.assert_array_equal(draw(other).numpy(), expected)


def test_a_draw_is_one_value_however_often_it_is_read() -> None:
    x = ad.variable(2.0)
    noise = ad.random.normal((5,))
    y = (noise * x).sum()
    equal(ad.gradients(y, [x])[0], noise.numpy().sum(), 1e-5)
    assert abs((y - 2 * noise.sum()).item()) < 1e-5
    doubled = ad.evaluate(y, {x: 4.0})
    equal(doubled, 2 * y.item(), 1e-5)


def test_drawing_inside_a_transform_moves_the_generator_once() -> None:
    ad.random.seed(1)
    ad.grad(lambda x: (x * ad.random.normal((4,))).sum())(ad.ones((4,))).numpy()
    after = ad.random.normal((4,)).numpy()
    ad.random.seed(1)
    ad.random.normal((4,))
    np.testing.assert_array_equal(ad.random.normal((4,)).numpy(), after)


def test_distributions() -> None:
    n = 200_000
    normal = ad.random.normal((n,), dtype="float64").numpy()
    assert abs(normal.mean()) < 0.01 and abs(normal.std() - 1) < 0.01
    assert abs((normal**3).mean()) < 0.04 and abs((normal**4).mean() - 3) < 0.1
    assert abs(np.corrcoef(normal[:-1], normal[1:])[0, 1]) < 0.01
    uniform = ad.random.uniform((n,), low=-2.0, high=3.0).numpy()
    assert uniform.min() >= -2 and uniform.max() < 3
    assert abs(uniform.mean() - 0.5) < 0.02 and abs(uniform.var() - 25 / 12) < 0.03
    integers = ad.random.integers(-3, 4, (n,)).numpy()
    counts = np.bincount(integers + 3, minlength=7)
    assert integers.dtype.kind == "i" and len(counts) == 7 and abs(counts / n - 1 / 7).max() < 0.005
    bernoulli = ad.random.bernoulli(0.3, (n,)).numpy()
    assert abs(bernoulli.mean() - 0.3) < 0.01 and set(np.unique(bernoulli)) == {0, 1}
    assert not ad.random.bernoulli(0.0, (n,)).numpy().any() and ad.random.bernoulli(1.0, (n,)).numpy().all()


def test_permutations_are_permutations_and_fair() -> None:
    for n in (0, 1, 2, 17, 1000):
        np.testing.assert_array_equal(np.sort(ad.random.permutation(n).numpy()), np.arange(n))
    first = [int(ad.random.permutation(4).numpy()[0]) for _ in range(400)]
    assert min(np.bincount(first, minlength=4)) > 60


@pytest.mark.parametrize("shape", [(), (0,), (1,), (2, 3), (3, 0, 2), (1001,)])
def test_shapes_and_dtypes(shape: tuple[int, ...]) -> None:
    for dtype in ("float32", "float64"):
        for draw in (ad.random.normal, ad.random.uniform):
            drawn = draw(shape, dtype=dtype)
            assert drawn.numpy().shape == drawn.shape == shape
            assert drawn.dtype == getattr(ad, dtype) and drawn.numpy().dtype == dtype
    assert ad.random.normal(shape).dtype == ad.float32
    assert ad.random.integers(0, 5, shape).numpy().shape == shape
    assert ad.random.bernoulli(0.5, shape).numpy().shape == shape


def test_bad_bounds_are_errors() -> None:
    with pytest.raises(ValueError, match="integers"):
        ad.random.integers(5, 5, (2,))
    with pytest.raises(ValueError, match="bernoulli"):
        ad.random.bernoulli(1.5, (2,))
    with pytest.raises(ValueError):
        ad.random.normal((-1,))

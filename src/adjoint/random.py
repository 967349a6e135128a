"""Random numbers from a counter: a draw depends on the generator's key and position alone, so a seed reproduces.

`ad.random.normal(shape)` and its kin draw from a default generator, `ad.random.Generator(seed)` makes others. Bits come from
Philox (see primitives.random). Draws are recorded like every operation, their key and counter fixed when they are recorded.

Or a draw is given its key, `ad.random.normal(shape, key=k)`: then it depends on that alone, in every example of a batch and
every step of a loop as well. `key(seed)` makes one, `split` makes new ones of one, which are used once each.
"""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Never

import numpy as np

from adjoint import _forks, tracing
from adjoint.dtypes import as_dtype, default_dtype, float16, float32, float64, uint32, uint64
from adjoint.graph import Node, array_type
from adjoint.hints import attribute_error, keyword_error
from adjoint.primitives.core import cast, data, ops
from adjoint.primitives.random import REFUSING, stream
from adjoint.shapes import Shape, as_shape, size_of
from adjoint.tensors.conversion import a, array_node, as_node, dtype_of
from adjoint.tensors.located import at_user, enter_scope, leave_scope
from adjoint.tensors.named import wrap
from adjoint.tensors.tensor import Tensor
from adjoint.unknown import Unknown

if TYPE_CHECKING:
    from adjoint.stats.draws import (
        beta,
        binomial,
        categorical,
        cauchy,
        choice,
        dirichlet,
        exponential,
        gamma,
        geometric,
        gumbel,
        laplace,
        logistic,
        multinomial,
        multivariate_normal,
        negative_binomial,
        poisson,
        student_t,
        von_mises,
        weibull,
    )  # fmt: skip

_DRAWS = (
    "beta", "binomial", "categorical", "cauchy", "choice", "dirichlet", "exponential", "gamma", "geometric", "gumbel", "laplace",
    "logistic", "multinomial", "multivariate_normal", "negative_binomial", "poisson", "student_t", "von_mises", "weibull",
)  # fmt: skip

__all__ = [
    "Generator", "bernoulli", "beta", "binomial", "categorical", "cauchy", "choice", "default_generator", "dirichlet",
    "exponential", "fold_in", "gamma", "geometric", "gumbel", "integers", "key", "laplace", "logistic", "multinomial",
    "multivariate_normal", "negative_binomial", "normal", "permutation", "poisson", "seed", "split", "student_t", "uniform",
    "von_mises", "weibull",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name in _DRAWS:
        return getattr(importlib.import_module("adjoint.stats.draws"), name)
    raise attribute_error("adjoint.random", sys.modules[__name__], name)


class Generator(tracing.Drawn):
    """A stream of random numbers: the same seed gives the same draws in the same order.

    `state` is a uint64 tensor [key, counter]; assigning it continues from there.
    """

    def __init__(self, seed: int = 0) -> None:
        self._lock = _forks.lock()
        tracer = tracing.active()
        if tracer is not None:
            tracer.made(self)
        self.seed(seed)

    def seed(self, seed: int) -> None:
        """Start again from a seed, a non-negative int."""
        if not isinstance(seed, (int, np.integer)):
            raise TypeError(f"seed: expected a non-negative int, got {a(seed)}{at_user()}")
        if seed < 0:
            raise ValueError(f"seed: expected a non-negative int, got {seed}{at_user()}")
        tracing.refuse(self, "the seed of a random generator")
        self._seed: int | None = seed  # numpy.random is imported at the first draw: it takes longer than all of adjoint
        self._counter = 0

    @property
    def _key(self) -> int:
        if self._seed is not None:
            self._made = int(np.random.SeedSequence(self._seed).generate_state(1, np.uint64)[0])
            self._seed = None
        return self._made

    @_key.setter
    def _key(self, key: int) -> None:
        self._made, self._seed = key, None

    def __getstate__(self) -> tuple[int, int]:
        return self._key, self._counter

    def __setstate__(self, state: tuple[int, int]) -> None:
        self._lock = _forks.lock()
        self._key, self._counter = state

    @property
    def state(self) -> Tensor:
        """Where the stream is."""
        return wrap(array_node(np.array([self._key, self._counter], np.uint64), None, False))

    @state.setter
    def state(self, value: Any) -> None:
        tracing.refuse(self, "the state of a random generator")
        key, counter = np.asarray(value).tolist()
        self._key, self._counter = int(key), int(counter)

    def _bits(self, shape: Shape, dtype: Any) -> Node:
        refused = REFUSING.get()
        if refused:
            raise RuntimeError(f"{refused}{at_user()}")
        words = -(-size_of(shape) * dtype.itemsize // 8)
        blocks = -(-words // 4)
        tracer = tracing.active()
        if tracer is not None:  # the compiled function goes on from where the generator is then
            counter = tracer.number(self, "_counter", self._counter)
            tracer.set_number(self, "_counter", counter + blocks)
            key = tracer.number(self, "_key", self._key)
            return ops.random_bits(_number(key), _number(counter), shape, dtype)
        with self._lock:
            counter = self._counter
            self._counter += blocks
        return ops.random_bits(_number(self._key), _number(counter), shape, dtype)

    def words(self, count: int) -> Any:
        """So many random words, at once: those that a draw of `count` 64-bit numbers would use."""
        key, counter = self.pass_over(count)
        return stream(key, counter, count)

    def pass_over(self, count: int) -> tuple[int, int]:
        """Go on as if so many random words had been drawn; the key and the counter from which a stream has them."""
        with self._lock:
            counter = self._counter
            self._counter = counter + -(-count // 4)
        return self._made if self._seed is None else self._key, counter

    def _unit(self, shape: Shape, dtype: Any) -> Node:
        """Uniform in [0, 1), as fine as the dtype's precision."""
        if dtype is float64:
            bits = ops.bitwise_right_shift(self._bits(shape, uint64), 11)
            return ops.multiply(cast(bits, dtype), 2.0**-53)
        if dtype.narrow:  # rounding a float32 could give 1
            digits = 11 if dtype is float16 else 8
            bits = ops.bitwise_right_shift(self._bits(shape, uint32), 32 - digits)
            return cast(ops.multiply(cast(bits, float32), 2.0**-digits), dtype)
        bits = ops.bitwise_right_shift(self._bits(shape, uint32), 8)
        return ops.multiply(cast(bits, dtype), 2.0**-24)

    def uniform(
        self, shape: Any = (), low: Any = 0.0, high: Any = 1.0, *, dtype: Any = None, key: Any = None, **others: Never
    ) -> Tensor:
        """Uniform numbers in [low, high), which may be tensors that broadcast to the shape."""
        if key is not None:
            return source(key).uniform(shape, low, high, dtype=dtype, **others)
        sizes, kind = _real("uniform", shape, dtype, others)

        def draw() -> Node:
            unit = self._unit(sizes, kind)
            if _is_number(low, 0) and _is_number(high, 1):
                return unit
            a, b = as_node(low, kind), as_node(high, kind)
            return ops.add(ops.multiply(unit, ops.subtract(b, a)), a)

        return _drawn("uniform", draw)

    def normal(
        self, shape: Any = (), mean: Any = 0.0, std: Any = 1.0, *, dtype: Any = None, key: Any = None, **others: Never
    ) -> Tensor:
        """Normal numbers, by the transform of G. Box and M. Muller (1958); mean and std may be tensors that broadcast."""
        if key is not None:
            return source(key).normal(shape, mean, std, dtype=dtype, **others)
        sizes, kind = _real("normal", shape, dtype, others)
        if isinstance(std, (int, float)) and std < 0:
            raise ValueError(f"normal: a standard deviation isn't negative; got {std}{at_user()}")
        if kind.narrow:
            return _drawn("normal", lambda: cast(self.normal(sizes, mean, std, dtype=float32).node, kind))

        def draw() -> Node:
            count = size_of(sizes)
            pairs = (-(-count // 2),)
            radius = ops.sqrt(ops.multiply(ops.log(ops.subtract(1.0, self._unit(pairs, kind))), -2.0))
            angle = ops.multiply(self._unit(pairs, kind), 2 * math.pi)
            both = ops.concat([ops.multiply(radius, ops.cos(angle)), ops.multiply(radius, ops.sin(angle))], 0)
            z = ops.reshape(ops.slice_(both, ((0, count, 1),)), sizes)
            if not _is_number(std, 1):
                z = ops.multiply(z, as_node(std, kind))
            return z if _is_number(mean, 0) else ops.add(z, as_node(mean, kind))

        return _drawn("normal", draw)

    def integers(
        self, low: Any, high: Any = None, shape: Any = (), *, dtype: Any = "int64", key: Any = None, **others: Never
    ) -> Tensor:
        """Integers in [low, high), or in [0, low) without `high`. Raises ValueError for an empty range.

        The remainder of 64 bits: its bias is below (high - low) / 2**64.
        """
        if key is not None:
            return source(key).integers(low, high, shape, dtype=dtype, **others)
        if others:
            raise keyword_error("random.integers", others, at_user())
        if high is None:
            low, high = 0, low
        wrong = [x for x in (low, high) if not isinstance(x, (int, np.integer, Unknown))]
        if wrong:
            raise TypeError(
                f"integers: the bounds are ints, not {wrong[0]!r}; they come first and the shape last: "
                f"ad.random.integers(low, high, shape){at_user()}"
            )
        if low >= high:
            raise ValueError(f"integers: no integer in [{low}, {high}){at_user()}")
        sizes, kind, span = as_shape(shape, "integers"), dtype_of(dtype), high - low

        def draw() -> Node:
            offset = cast(ops.remainder(self._bits(sizes, uint64), _number(span)), as_dtype("int64"))
            return cast(ops.add(offset, int(low)), kind)

        return _drawn("integers", draw)

    def bernoulli(self, p: Any = 0.5, shape: Any = None, *, dtype: Any = "bool", key: Any = None) -> Tensor:
        """True with probability p, which may be a tensor (whose shape is the default)."""
        if key is not None:
            return source(key).bernoulli(p, shape, dtype=dtype)
        if isinstance(p, (int, float)) and not 0 <= p <= 1:
            raise ValueError(f"bernoulli: p is a probability, got {p}{at_user()}")
        chance = as_node(p)
        sizes = chance.shape if shape is None else as_shape(shape, "bernoulli")
        kind = chance.dtype if chance.dtype.kind == "f" and not chance.dtype.narrow else default_dtype()
        return _drawn("bernoulli", lambda: cast(ops.less(self._unit(sizes, kind), cast(chance, kind)), as_dtype(dtype)))

    def permutation(self, x: Any, *, key: Any = None) -> Tensor:
        """0, ..., n-1 in random order for an int n; for a tensor, its slices along the first axis in random order."""
        if key is not None:
            return source(key).permutation(x)
        whole = isinstance(x, (int, np.integer))
        node = None if whole else as_node(x)
        n = int(x) if node is None else node.shape[0]

        def draw() -> Node:
            order = ops.argsort(self._bits((n,), uint64), 0, descending=False)
            return order if node is None else ops.take(node, order, 0)

        return _drawn("permutation", draw)


class _Stream(Generator):
    """The draws of one explicit key, one after the other."""

    def __init__(self, key: Node) -> None:
        self.node, self.used = key, 0

    def _bits(self, shape: Shape, dtype: Any) -> Node:
        refused = REFUSING.get()
        if refused:
            raise RuntimeError(f"{refused}{at_user()}")
        counter = self.used
        self.used += -(-size_of(shape) * dtype.itemsize // 32)
        return ops.random_bits_of_key(self.node, counter, shape, dtype)


def source(key: Any) -> Generator:
    """What draws: a generator that is given as the key, one of an explicit key, or the default one for None."""
    if key is None or isinstance(key, Generator):
        return default_generator if key is None else key
    node = as_node(key)
    if node.type is not array_type((), uint64):
        raise TypeError(
            f"random: a key is what ad.random.key(seed) or one row of ad.random.split(key) gives, not {a(key)} of shape "
            f"{node.shape} and dtype {node.dtype.name}{at_user()}"
        )
    return _Stream(node)


def key(seed: Any) -> Tensor:
    """A key for draws, a uint64 tensor, from a seed: a non-negative int, or an integer tensor.

    A key gives the same draws wherever it is used, so use each once; `split` makes others of it.

    >>> import adjoint as ad
    >>> k = ad.random.key(0)
    >>> bool((ad.random.normal((3,), key=k) == ad.random.normal((3,), key=k)).all())
    True
    """
    if isinstance(seed, (int, np.integer)):
        if seed < 0:
            raise ValueError(f"key: expected a non-negative seed, got {seed}{at_user()}")
        return wrap(_number(np.random.SeedSequence(int(seed)).generate_state(1, np.uint64)[0]))
    node = as_node(seed)
    if node.shape != () or node.dtype.kind not in "iu":
        raise TypeError(f"key: a seed is one integer, not {a(seed)}{at_user()}")
    return fold_in(key(0), wrap(node))


LANE = 1 << 62  # where a key's bits for other keys begin; its draws are below


def split(key: Any, number: int = 2) -> Tensor:
    """New keys (number,), made of one that isn't to be used any more.

    >>> import adjoint as ad
    >>> first, second = ad.random.split(ad.random.key(0))
    >>> ad.random.normal((2,), key=first).shape
    (2,)
    """
    stream = source(key)
    if not isinstance(stream, _Stream):
        raise TypeError(f"split: expected a key, got {a(key)}{at_user()}")
    return _drawn("split", lambda: ops.random_bits_of_key(stream.node, LANE, (int(number),), uint64))


def fold_in(key: Any, number: Any) -> Tensor:
    """A new key made of a key and an integer, such as the number of a step.

    >>> import adjoint as ad
    >>> k = ad.random.fold_in(ad.random.key(0), 7)
    """
    stream = source(key)
    if not isinstance(stream, _Stream):
        raise TypeError(f"fold_in: expected a key, got {a(key)}{at_user()}")

    def mixed() -> Node:
        (folded,) = [ops.random_bits_of_key(cast(as_node(number), uint64), 2 * LANE, (1,), uint64)]
        both = ops.bitwise_xor(ops.reshape(folded, ()), stream.node)
        return ops.reshape(ops.random_bits_of_key(both, 3 * LANE, (1,), uint64), ())

    return _drawn("fold_in", mixed)


def _number(value: Any) -> Node:
    if type(value) is Unknown:
        return ops.full(value, array_type((), uint64))
    return data(np.array(value, np.uint64))


def _is_number(x: Any, value: float) -> bool:
    return isinstance(x, (int, float)) and x == value


def _real(name: str, shape: Any, dtype: Any, others: dict[str, Any]) -> tuple[Shape, Any]:
    if others:
        raise keyword_error(f"random.{name}", others, at_user())
    kind = default_dtype() if dtype is None else dtype_of(dtype)
    if kind.kind != "f":
        raise TypeError(f"{name}: dtype is a floating one, got {kind.name}{at_user()}")
    try:
        return as_shape(shape, name), kind
    except ValueError as error:
        raise ValueError(f"{error}{at_user()}") from None
    except TypeError:
        raise TypeError(
            f"{name}: a shape is an int or a tuple of ints, not {shape!r}; it comes first: "
            f"ad.random.{name}(shape, {'low, high' if name == 'uniform' else 'mean, std'}), a key by name{at_user()}"
        ) from None


def _drawn(name: str, draw: Callable[[], Node]) -> Tensor:
    token = enter_scope(name, 2)
    try:
        return wrap(draw())
    finally:
        leave_scope(token)


default_generator = Generator(0)


def seed(seed: int) -> None:
    """Start the default generator again from a seed, a non-negative int."""
    default_generator.seed(seed)


uniform = default_generator.uniform
normal = default_generator.normal
integers = default_generator.integers
bernoulli = default_generator.bernoulli
permutation = default_generator.permutation

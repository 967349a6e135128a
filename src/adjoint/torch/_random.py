"""Tensors of chance. A seed gives other numbers than in PyTorch."""

from __future__ import annotations

import bisect
import functools
import inspect
import itertools
import math
from typing import Any

import numpy as np

from adjoint import tracing
from adjoint.arrays.standard import finfo
from adjoint.dtypes import DTYPES, DType, default_dtype, float64, int64, real_of
from adjoint.graph import array_type
from adjoint.plan.canonical import ValueNeededError
from adjoint.primitives.core import leaf
from adjoint.primitives.random import EXAMPLES, REFUSING, stream
from adjoint.shapes import broadcast_shapes
from adjoint.tensors import functions as core
from adjoint.tensors.located import at_user

from ._creation import checked, default_generator, finished, given_dtype, range_of, renamed, source
from ._elementwise import made
from ._names import FUNCTIONS, METHODS, function, recorded_at_user
from ._now import FEW, few, known
from ._tensor import Core
from ._views import sizes

WIDE_BITS, NARROW_BITS, NARROW_STEP = np.uint64(11), np.uint32(8), np.float32(2.0**-24)


def _random(name: str, draw: Any, now: Any) -> None:
    def called(*lengths: Any, size: Any = None, generator: Any = None, dtype: Any = None, **options: Any) -> Any:
        shape = sizes(lengths if size is None else (size,))
        drawn = draw(source(generator), shape, given_dtype(dtype) or default_dtype())
        return finished(drawn, **checked(options, name)) if options else drawn

    def like(input: Any, *, dtype: Any = None, generator: Any = None, **options: Any) -> Any:
        return called(tuple(input.shape), dtype=dtype or input.dtype, generator=generator, **options)

    def quick(args: tuple[Any, ...]) -> Any:
        """Few numbers of the default generator and dtype, drawn at once; None for others."""
        kind = default_dtype()
        for n in args:
            if type(n) is not int:
                return None
        if not args or not _is_soon_drawn(args, kind):
            return None
        value = now(default_generator.core, _few(args), kind)
        return leaf(value if len(args) == 1 else value.reshape(args), array_type(args, kind))

    called.__doc__ = like.__doc__ = "Random numbers."
    function(methods=False, quick=quick)(renamed(called, name))
    FUNCTIONS[f"{name}_like"] = recorded_at_user(renamed(like, f"{name}_like"))


def _unit_now(generator: Any, count: int, kind: DType) -> Any:
    """Uniform numbers in [0, 1), as the core draws them, at once."""
    return _unit_of(generator.words(_words(count, kind.name)), 1, count, kind)[0]


def _words(count: int, name: str) -> int:
    """How many random words a draw of a dtype takes; one holds two numbers of float32."""
    return count if name == "float64" else -(-count // 2)


def _unit_of(bits: Any, draws: int, count: int, kind: DType) -> Any:
    """The uniform numbers of random words that are for several draws, a row for each, of so many numbers."""
    rows = bits.reshape(draws, len(bits) // draws)
    if kind.name == "float64":
        return (rows[:, :count] >> WIDE_BITS).astype(np.float64) * 2.0**-53
    return (rows.view(np.uint32)[:, :count] >> NARROW_BITS).astype(np.float32) * NARROW_STEP


@functools.lru_cache(1 << 10)
def _few(shape: tuple[int, ...]) -> int:
    """How many numbers a draw has, if they are few: then drawing takes less time than recording it. Else -1."""
    count = math.prod(shape)
    return count if min(shape, default=0) >= 0 and count <= FEW else -1


def _is_soon_drawn(shape: Any, kind: DType) -> bool:
    """Whether numbers are few, and not drawn while a function is traced."""
    full = kind.kind == "f" and not kind.narrow
    return full and _few(tuple(shape)) >= 0 and _at_once()


def _at_once() -> bool:
    """Whether draws may be made now: nothing is traced, batched, or refuses them."""
    return tracing.active() is None and not EXAMPLES.get() and not REFUSING.get()


def _uniform_of(generator: Any, shape: Any, kind: DType) -> Any:
    if kind.kind == "c":
        part = DTYPES["float64" if kind.name == "complex128" else "float32"]
        re, im = (generator.uniform(shape, dtype=part) for _ in range_of(2))
        return core.astype(re, kind) + core.astype(im, kind) * 1j
    if not _is_soon_drawn(shape, kind):
        return generator.uniform(shape, dtype=kind)
    return core.tensor(_unit_now(generator, math.prod(shape), kind).reshape(shape))


def _normal_of(generator: Any, shape: Any, kind: DType) -> Any:
    if kind.kind == "c":
        part = DTYPES["float64" if kind.name == "complex128" else "float32"]
        re, im = (generator.normal(shape, 0.0, math.sqrt(0.5), dtype=part) for _ in range_of(2))
        return core.astype(re, kind) + core.astype(im, kind) * 1j
    if not _is_soon_drawn(shape, kind):
        return generator.normal(shape, dtype=kind)
    value = _normal_now(generator, math.prod(shape), kind).reshape(shape)
    return made(leaf(value, array_type(shape, kind)))


AHEAD, VECTOR = 16, 16  # draws; numbers of float32 that the widest registers hold
# Where the last draw ended (key, counter, count, dtype), the draws that were computed with it, and which is the next of them.
_known: list[tuple[tuple[Any, ...], list[Any], int]] = [((), [], 0)]


@functools.lru_cache(1 << 10)
def _pairs(count: int, name: str) -> tuple[int, int]:
    """How many pairs of numbers of a dtype a draw has, and how many blocks of four random words; it begins where a block does."""
    pairs = -(-count // 2)
    return pairs, -(-_words(pairs, name) // 4)


def _normal_now(generator: Any, count: int, kind: DType) -> Any:
    """Normal numbers, as the core draws them, at once.

    A loop draws as many in each turn, so draws that follow each other are computed 2, 4, ... at a time, which takes little longer
    than one. They are functions of key and counter alone: each is what it would be by itself.
    """
    pairs, blocks = _pairs(count, kind.name)
    key, counter = generator.pass_over(8 * blocks)
    expected, ready, at = _known[0]
    follows = expected == (key, counter, count, kind.name)
    if not follows or at == len(ready):
        more = (
            follows and pairs % VECTOR == 0 and count <= FEW // AHEAD
        )  # whole registers: the same code for each number
        ready, at = list(_normal_rows(key, counter, count, kind, min(2 * at, AHEAD) if more else 1)), 0
    _known[0] = (key, counter + 2 * blocks, count, kind.name), ready, at + 1
    return ready[at].copy()


def _normal_rows(key: int, counter: int, count: int, kind: DType, draws: int) -> Any:
    """So many draws of normal numbers, from a counter on, a row each."""
    pairs, number = -(-count // 2), kind.dtype.type
    whole = -(-_words(pairs, kind.name) // 4) * 4
    unit = _unit_of(stream(key, counter, 2 * draws * whole), 2 * draws, pairs, kind)
    radius = np.sqrt(np.log(number(1) - unit[0::2]) * number(-2))
    angle = unit[1::2] * number(2 * math.pi)
    return np.concatenate([radius * np.cos(angle), radius * np.sin(angle)], 1)[:, :count]


_random("rand", _uniform_of, _unit_now)
_random("randn", _normal_of, _normal_now)


def _holds(kind: DType, least: int, most: int) -> bool:
    """Whether all of these integers lie within a dtype's range."""
    if kind.kind == "b":
        return least >= 0 and most <= 1
    if kind.kind in "fc":
        return kind.name != "float16" or max(abs(least), abs(most)) <= 65504
    info = np.iinfo(kind.dtype)
    return bool(info.min <= least and most <= info.max)


def _last_integer(kind: DType) -> int:
    """The largest integer up to which a dtype has all of them."""
    if kind.kind in "iu":
        return min(int(np.iinfo(kind.dtype).max), 2**63 - 1)
    return {"bool": 1, "float16": 2**11, "bfloat16": 2**8, "float64": 2**53}.get(kind.name, 2**24)


def _check_range(name: str, kind: DType, least: int, end: int) -> None:
    _must(name, _holds(kind, least, end - 1), f"{kind.name} doesn't hold all integers from {least} to below {end}")


@function(methods=False)
def randint(
    *bounds: Any,
    low: Any = None,
    high: Any = None,
    size: Any = None,
    generator: Any = None,
    dtype: Any = "int64",
    **options: Any,
) -> Any:
    """Random integers in [low, high): randint(high, size) or randint(low, high, size)."""
    values = list(bounds)
    shape = values.pop() if size is None else size
    values += [x for x in (low, high) if x is not None]
    least, most = (0, *values)[-2:]
    kind = given_dtype(dtype) or int64
    _check_range("randint", kind, int(least), int(most))
    whole, own = sizes((shape,)), source(generator)
    if kind is int64 and least < most and _few(tuple(whole)) >= 0 and _at_once():
        out: Any = made(leaf(_integers_now(own, int(least), int(most), whole), array_type(tuple(whole), int64)))
    else:
        out = core.astype(own.integers(int(least), int(most), whole, dtype="int64"), kind)
    return finished(out, **checked(options, "randint")) if options else out


def _integers_now(generator: Any, least: int, end: int, shape: Any) -> Any:
    """Integers in [least, end), as the core draws them, at once."""
    found = (generator.words(math.prod(shape)) % np.uint64(end - least)).view(np.int64).reshape(shape)
    found += least
    return found


@function(methods=False)
def randint_like(
    input: Any,
    *bounds: Any,
    low: Any = None,
    high: Any = None,
    dtype: Any = None,
    generator: Any = None,
    **options: Any,
) -> Any:
    """Random integers in a tensor's shape and dtype."""
    return randint(
        *bounds, low=low, high=high, size=tuple(input.shape), dtype=dtype or input.dtype, generator=generator, **options
    )


def _must(name: str, holds: bool, what: str) -> None:
    if not holds:
        raise RuntimeError(f"{name}: {what}{at_user()}")


def _order_of(words: Any) -> Any:
    """The positions that sort random words; of equal ones, which hardly ever come, in their order."""
    order = words.argsort()
    found = words[order]
    return words.argsort(kind="stable") if (found[1:] == found[:-1]).any() else order


@function(methods=False)
def randperm(n: int, *, generator: Any = None, dtype: Any = "int64", **options: Any) -> Any:
    """The numbers below n in random order."""
    kind = given_dtype(dtype) or int64
    _must("randperm", n >= 0, f"the count isn't negative, and is {n}")
    _must("randperm", n == 0 or _holds(kind, 0, int(n) - 1), f"{kind.name} doesn't hold all integers below {n}")
    own = source(generator)
    if kind is int64 and type(n) is int and _at_once():
        out: Any = made(leaf(_order_of(own.words(n)), array_type((n,), int64)))
    else:
        out = core.astype(own.permutation(int(n)), kind)
    return finished(out, **checked(options, "randperm"))


def _seen(x: Any) -> Any:
    """The value of a parameter, so that a mistake raises where it is made; None where a later run alone knows it."""
    if not isinstance(x, Core):
        return np.asarray(x)
    value = known(x.node)
    if value is not None:
        return value
    try:
        return np.asarray(x.detach().numpy())
    except ValueNeededError:
        return None


def _check_deviations(name: str, std: Any) -> None:
    given = _seen(std)
    if given is not None:
        _must(name, given.dtype.kind != "c", "deviations are real")
        _must(name, bool((given >= 0).all()), "a deviation is negative, or NaN")


@function(methods=False)
def normal(
    mean: Any = 0.0, std: Any = 1.0, size: Any = None, *, generator: Any = None, dtype: Any = None, **options: Any
) -> Any:
    """Normal numbers; means and deviations may be tensors."""
    given = [x for x in (mean, std) if isinstance(x, Core)]
    kind = given_dtype(dtype) or (given[0].dtype if given else default_dtype())
    shape = tuple(sizes((size,)) if size is not None else broadcast_shapes("normal", *[tuple(x.shape) for x in given]))
    _check_deviations("normal", std)
    drawn = _normal_of(source(generator), shape, kind)
    return finished(core.astype(drawn * std + mean, kind), **checked(options, "normal"))


@function()
def bernoulli(input: Any, p: Any = None, *, generator: Any = None) -> Any:
    """1 with the probability that each element says, else 0."""
    chance = input if p is None else p
    given = _seen(chance)
    if given is not None and not ((given >= 0) & (given <= 1)).all():
        raise RuntimeError(f"bernoulli: probabilities lie from 0 to 1{at_user()}")
    shape, own = tuple(input.node.type.shape), input.node.type.dtype
    if chance is input and given is not None and _is_soon_drawn(shape, own):
        drawn = _unit_now(source(generator), math.prod(shape), own).reshape(shape) < given
        return made(leaf(drawn.astype(own.dtype), input.node.type))
    return core.astype(source(generator).bernoulli(chance, tuple(input.shape)), input.dtype)


@function(methods=False)
def poisson(input: Any, generator: Any = None) -> Any:
    """Poisson numbers of these rates."""
    seed = int(source(generator).integers(0, 2**62, ()).item())
    rates = np.asarray(input.detach().numpy())
    _must("poisson", not (rates < 0).any(), "a rate is negative")
    return core.tensor(np.asarray(np.random.default_rng(seed).poisson(rates), input.dtype.dtype))


@function(methods=False)
def binomial(count: Any, prob: Any, generator: Any = None) -> Any:
    """How many of so many tries succeed, with these probabilities."""
    if not (count.dtype.kind == "f" and prob.dtype is count.dtype):
        raise RuntimeError(
            f"binomial: counts and probabilities are of one floating dtype, not {count.dtype.name} and "
            f"{prob.dtype.name}{at_user()}"
        )
    seed = int(source(generator).integers(0, 2**62, ()).item())
    counts, chances = (np.asarray(x.detach().numpy()) for x in (count, prob))
    _must("binomial", bool((counts >= 0).all()) and bool((counts % 1 == 0).all()), "counts are whole and not negative")
    _must("binomial", bool(((chances >= 0) & (chances <= 1)).all()), "probabilities lie from 0 to 1")
    drawn = np.random.default_rng(seed).binomial(counts.astype(np.int64), chances)
    return core.tensor(np.asarray(drawn, count.dtype.dtype))


LISTED = 256  # weights of which Python adds up one row sooner than NumPy


def _drawn_from(weights: list[float], generator: Any, count: int) -> Any:
    """Positions drawn with these weights, with replacement; None where the weights need a closer look."""
    bounds = list(itertools.accumulate(weights))
    if not bounds or not 0 < bounds[-1] < math.inf or min(weights) < 0:
        return None
    total, last = bounds[-1], len(bounds) - 1
    unit = _unit_now(generator, count, float64).tolist()
    return np.array([min(bisect.bisect_right(bounds, u * total), last) for u in unit], np.int64)


@function()
def multinomial(input: Any, num_samples: int, replacement: bool = False, *, generator: Any = None) -> Any:
    """Positions drawn with the weights of each row."""
    if REFUSING.get():
        raise RuntimeError(f"{REFUSING.get()}{at_user()}")
    if input.dtype.kind != "f" or input.ndim not in (1, 2):
        given = f"{input.dtype.name} of shape {tuple(input.shape)}"
        raise RuntimeError(f"multinomial: weights are one floating row or several, not {given}{at_user()}")
    if num_samples < 1:
        raise RuntimeError(f"multinomial: at least one is drawn, not {num_samples}{at_user()}")
    n = input.node.type.shape[-1]
    given = few(input.node)
    given = input.detach().numpy() if given is None else given
    lengths = (*input.node.type.shape[:-1], num_samples)
    if replacement and given.size == n <= LISTED and num_samples <= LISTED and _at_once():
        drawn = _drawn_from(given.ravel().tolist(), source(generator), num_samples)
        if drawn is not None:
            return made(leaf(drawn.reshape(lengths), array_type(lengths, int64)))
    values = np.asarray(given, np.float64).reshape(-1, n)
    rows = len(values)
    low = values.min(initial=1.0)
    totals = values.sum(axis=1)
    plain = low >= 0 and totals.min(initial=np.inf) > 0 and totals.max(initial=0.0) < np.inf
    if not plain and values.size and not (low >= 0 and (totals > 0).all() and np.isfinite(values).all()):
        raise RuntimeError(f"multinomial: weights are finite, not negative, and not all zero{at_user()}")
    if not replacement and num_samples > n:
        raise RuntimeError(f"multinomial: {num_samples} of {n} can't be drawn without replacement{at_user()}")
    shape = (rows, num_samples if replacement else n)
    own = source(generator)
    if _is_soon_drawn(shape, float64):
        unit = _unit_now(own, math.prod(shape), float64).reshape(shape)
    else:
        unit = np.asarray(own.uniform(shape, dtype="float64").numpy())
    if replacement:
        bounds = values.cumsum(axis=1)
        unit *= bounds[:, -1:]
        at = np.empty(shape, np.int64)
        for i in range(rows):
            at[i] = bounds[i].searchsorted(unit[i], "right")
        np.minimum(at, n - 1, out=at)
    else:  # the largest of log(u) / w: A. Efraimidis and P. Spirakis (2006)
        if low > 0:
            keys = np.log1p(-unit) / values
        else:
            keys = np.where(values > 0, np.log1p(-unit) / np.where(values > 0, values, 1), -np.inf)
        if num_samples == 1 and n:
            at = keys.argmax(axis=1)[:, None]
        elif 4 * num_samples < n:  # the few that are largest are found before they are sorted
            top = np.argpartition(keys, n - num_samples, axis=1)[:, n - num_samples :]
            order = np.argsort(-np.take_along_axis(keys, top, 1), 1, kind="stable")
            at = np.take_along_axis(top, order, 1)
        else:
            at = np.argsort(-keys, 1, kind="stable")[:, :num_samples]
    return made(leaf(np.array(at, np.int64, order="C").reshape(lengths), array_type(lengths, int64)))


def _drawn_in_place(name: str, draw: Any, of_integers: bool = False) -> None:
    def called(self: Any, *args: Any, generator: Any = None, **keywords: Any) -> Any:
        if not (self.dtype.inexact or of_integers):
            raise NotImplementedError(f"{name}: the numbers are fractions, and the tensor {self.dtype.name}{at_user()}")
        kind = self.dtype if self.dtype.inexact or draw is _integers else default_dtype()
        return self._replace(draw(source(generator), tuple(self.shape), kind, *args, **keywords), name)

    called.__doc__ = "Random numbers, in place."
    METHODS[name] = renamed(called, name)
    _, _, _, *own = inspect.signature(draw).parameters.values()
    given = inspect.Parameter("generator", inspect.Parameter.KEYWORD_ONLY, default=None)
    start = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    called.__signature__ = inspect.Signature(sorted([start, *own, given], key=lambda p: p.kind))  # type: ignore[attr-defined]


NUMBERS = (int, float)


def _uniform(g: Any, shape: Any, kind: Any, from_: float = 0.0, to: float = 1.0, **old: float) -> Any:
    a = old.pop("from", from_)
    _no_more("uniform_", old)
    largest = float(finfo(real_of(kind)).max)
    if not max(abs(a), abs(to), to - a) <= largest:
        raise RuntimeError(f"uniform_: {kind.name} doesn't hold all numbers from {a} to {to}{at_user()}")
    _must("uniform_", a <= to, f"no number from {a} to {to}")
    if kind.kind == "c":
        return core.astype(g.uniform(shape, a, to), kind) + core.astype(g.uniform(shape, a, to), kind) * 1j
    if type(a) in NUMBERS and type(to) in NUMBERS and _is_soon_drawn(shape, kind):
        number, unit = kind.dtype.type, _unit_now(g, math.prod(shape), kind).reshape(shape)
        found = unit if (a, to) == (0, 1) else unit * (number(to) - number(a)) + number(a)
        return made(leaf(found, array_type(tuple(shape), kind)))
    return g.uniform(shape, a, to, dtype=kind)


def _normal(g: Any, shape: Any, kind: Any, mean: float = 0.0, std: float = 1.0) -> Any:
    _check_deviations("normal_", std)
    return _normal_of(g, shape, kind) * std + mean


ALONE: Any = object()  # the default of a bound: None is one that may be given


def _integers(g: Any, shape: Any, kind: Any, from_: Any = None, to: Any = ALONE, **old: Any) -> Any:
    low = old.pop("from", from_)
    _no_more("random_", old)
    if to is ALONE and low is not None:  # one number is where they end
        low, high = 0, int(low)
    elif to is ALONE or to is None:  # as far as the dtype has them all
        low, high = int(low or 0), _last_integer(kind) + 1
    else:
        low, high = int(low or 0), int(to)
    _must("random_", low < high, f"no integer from {low} to below {high}")
    _check_range("random_", kind, low, high)
    return g.integers(low, high, shape)


def _bernoulli(g: Any, shape: Any, kind: Any, p: Any = 0.5) -> Any:
    chances = _seen(p)
    _must(
        "bernoulli_", chances is None or bool(((chances >= 0) & (chances <= 1)).all()), "probabilities lie from 0 to 1"
    )
    return g.bernoulli(p, shape, dtype="int64")


def _exponential(g: Any, shape: Any, kind: Any, lambd: float = 1.0) -> Any:
    _must("exponential_", lambd > 0, f"the rate is positive, not {lambd}")
    return core.log(_open(g, shape, kind)) * (-1.0 / lambd)


def _cauchy(g: Any, shape: Any, kind: Any, median: float = 0.0, sigma: float = 1.0) -> Any:
    _must("cauchy_", sigma > 0, f"the width is positive, not {sigma}")
    return core.tan((g.uniform(shape, dtype=kind) - 0.5) * math.pi) * sigma + median


def _log_normal(g: Any, shape: Any, kind: Any, mean: float = 1.0, std: float = 2.0) -> Any:
    _must("log_normal_", std > 0, f"the deviation is positive, not {std}")
    return core.exp(g.normal(shape, dtype=kind) * std + mean)


def _geometric(g: Any, shape: Any, kind: Any, p: float) -> Any:
    _must("geometric_", 0 < p < 1, f"the probability lies between 0 and 1, and is {p}")
    return core.ceil(core.log(_open(g, shape, kind)) / math.log1p(-p))


def _no_more(name: str, keywords: Any) -> None:
    if keywords:
        raise TypeError(f"{name}: unknown arguments {', '.join(keywords)}{at_user()}")


def _open(g: Any, shape: Any, kind: Any) -> Any:
    return 1.0 - g.uniform(shape, dtype=kind)


_drawn_in_place("uniform_", _uniform)
_drawn_in_place("normal_", _normal)
_drawn_in_place("random_", _integers, of_integers=True)
_drawn_in_place("bernoulli_", _bernoulli, of_integers=True)
_drawn_in_place("exponential_", _exponential)
_drawn_in_place("cauchy_", _cauchy)
_drawn_in_place("log_normal_", _log_normal)
_drawn_in_place("geometric_", _geometric, of_integers=True)

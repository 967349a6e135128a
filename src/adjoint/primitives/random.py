"""Random bits from a counter: the same key and counter always give the same bits.

Philox 4x64-10 of J. Salmon, M. Moraes, R. Dror and D. Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011), as
NumPy implements it. A draw owns the block of counters [counter, counter + ceil(words / 4)). A draw for each example of
a batch has a lane of its own instead, [(counter + 1) 2⁶⁴, (counter + 2) 2⁶⁴), so that it can be of any size. A draw in a
step of a loop adds (step + 1) 2¹²⁸.
"""

from __future__ import annotations

import threading
from contextvars import ContextVar
from typing import Any

import numpy as np

from adjoint.graph import Node, Primitive, array_type, record
from adjoint.primitives.core import data, register
from adjoint.shapes import Shape

# What is drawn while a function is traced for each example of a batch, or each step of a loop, depends on these placeholders,
# one for each vmap and loop around it: so the draws are batched, or differ from step to step, and asking for their values too
# early is an error.
EXAMPLES: ContextVar[tuple[Node, ...]] = ContextVar("adjoint_examples", default=())

# Who refuses what is drawn while a function is traced, if somebody does: `torch.vmap` in its mode "error".
REFUSING: ContextVar[str] = ContextVar("adjoint_refusing", default="")

MULTIPLIERS = (np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157))
INCREMENTS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B))
HALF, LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


def _wide_product(a: Any, b: Any) -> tuple[Any, Any]:
    """The high and low words of a product of 64-bit words."""
    a_high, a_low, b_high, b_low = a >> HALF, a & LOW, b >> HALF, b & LOW
    middle = a_high * b_low + (a_low * b_low >> HALF)
    other = a_low * b_high + (middle & LOW)
    return a_high * b_high + (middle >> HALF) + (other >> HALF), a * b


def philox(keys: Any, counters: Any, lanes: Any, step: int, words: int) -> Any:
    """What np.random.Philox gives, for arrays of keys and counters at once: shape keys.shape + (words,)."""
    blocks = np.arange(1, -(-words // 4) + 1, dtype=np.uint64)
    first = counters[..., None] + blocks
    second = np.broadcast_to(lanes[..., None], first.shape)
    third, fourth = np.full_like(first, step), np.zeros_like(first)
    key, other = keys[..., None], np.zeros_like(keys)[..., None]
    for _ in range(10):
        high_a, low_a = _wide_product(MULTIPLIERS[0], first)
        high_b, low_b = _wide_product(MULTIPLIERS[1], third)
        first, second, third, fourth = high_b ^ second ^ key, low_b, high_a ^ fourth ^ other, low_a
        key, other = key + INCREMENTS[0], other + INCREMENTS[1]
    bits = np.stack([first, second, third, fourth], -1)
    return bits.reshape((*keys.shape, bits.shape[-2] * 4))[..., :words]


class _Own(threading.local):
    """A bit generator for each thread, since making one takes five times what setting it does; and where it is `at`."""

    generator: Any = None
    at: tuple[int, int] | None = None


_own = _Own()
WORD = (1 << 64) - 1
NOTHING = np.zeros(4, np.uint64)


def stream(key: int, counter: int, words: int) -> Any:
    """So many words of Philox's stream of a key, from a counter on."""
    blocks = -(-words // 4)
    # No signal's handler, which may draw too, runs between reading or setting where the generator is and the call that draws:
    # there is no other call between. So a draw that goes on where this thread's last one ended needs no more.
    if _own.at == (key, counter):
        _own.at = key, counter + blocks
        return _own.generator.random_raw(4 * blocks)[:words]
    generator = _own.generator
    if generator is None:
        generator = _own.generator = np.random.Philox(key=0)
    counters = np.array([counter & WORD, counter >> 64 & WORD, counter >> 128 & WORD, counter >> 192 & WORD], np.uint64)
    where = {"counter": counters, "key": np.array([key & WORD, key >> 64], np.uint64)}
    state = {
        "bit_generator": "Philox",
        "state": where,
        "buffer": NOTHING,
        "buffer_pos": 4,
        "has_uint32": 0,
        "uinteger": 0,
    }
    _own.at = key, counter + blocks
    generator.state = state
    return generator.random_raw(4 * blocks)[:words]


def _kernel(attributes: tuple[Any, ...], type: Any) -> Any:
    shape, dtype, lane = attributes[0], type.dtype.dtype, len(attributes) > 2

    def kernel(key: Any, counter: Any, *examples: Any) -> Any:
        lead = np.broadcast_shapes(np.shape(key), np.shape(counter))
        if lead == ():
            words = -(-type.size * dtype.itemsize // 8)
            start = ((int(counter) + 1) << 64 if lane else int(counter)) + (_step(examples) << 128)
            raw = stream(int(key), start, words)
            return raw.view(dtype)[: type.size].reshape(shape)
        count = int(np.prod(shape[len(lead) :], dtype=np.int64))
        keys, counters = (np.broadcast_to(x, lead).astype(np.uint64) for x in (key, counter))
        zeros = np.zeros(lead, np.uint64)
        first, second = (zeros, counters + np.uint64(1)) if lane else (counters, zeros)
        raw = philox(keys, first, second, _step(examples), -(-count * dtype.itemsize // 8))
        return np.ascontiguousarray(raw).view(dtype)[..., :count].reshape(shape)

    return kernel


def _step(numbers: Any) -> int:
    """One word that tells the steps of the loops around a draw apart: 0 outside of loops."""
    word = 0
    for number in numbers:
        word = word * 0x9E3779B97F4A7C15 + int(number) + 1
    return word % (1 << 64)


RANDOM_BITS = Primitive("random_bits", _kernel)


@register
def random_bits(key: Node, counter: Node, shape: Shape, dtype: Any) -> Node:
    """Uniform bits as uint32 or uint64, from a 0-d uint64 key and counter; inside vmap and loops, others for each example
    and step."""
    return record(RANDOM_BITS, (key, counter, *EXAMPLES.get()), (shape, dtype.name), array_type(shape, dtype))


@register
def random_bits_of_key(key: Node, counter: int, shape: Shape, dtype: Any) -> Node:
    """Uniform bits of an explicit key, a 0-d uint64: the same in every example and step that has the same key."""
    return record(RANDOM_BITS, (key, data(np.array(counter, np.uint64))), (shape, dtype.name), array_type(shape, dtype))


# Draws by rejection: NumPy's, from a bit generator of their own -----------------------------------------------------------


def _variates_kernel(attributes: tuple[str, Shape, int], type: Any) -> Any:
    name, shape, lead = attributes
    dtype = type.dtype.dtype

    def kernel(seed: Any, *parameters: Any) -> Any:
        result = np.empty(type.shape, dtype)
        for index in np.ndindex(type.shape[:lead]):
            high, low = seed[index].tolist()
            generator = np.random.Generator(np.random.Philox(key=(high << 64) + low))
            result[index] = getattr(generator, name)(*[x[index] for x in parameters], size=shape)
        return result

    return kernel


VARIATES = Primitive("random_variates", _variates_kernel)


def _batched_variates(b: Any, node: Node, xs: list[Node], mapped: list[bool]) -> Node:
    name, shape, lead = node.attributes
    result: Node = b.record(node, b.all_mapped(xs, mapped), (name, shape, lead + 1))
    return result


VARIATES.batch = _batched_variates


@register
def random_variates(seed: Node, parameters: list[Node], name: str, shape: Shape, dtype: Any) -> Node:
    """Draws of `numpy.random.Generator`'s method of that name, without derivative: seed holds two uint64, the parameters have
    the axes of the shape (where the method draws vectors, one more)."""
    drawn = shape if name != "multinomial" else (*shape, parameters[1].shape[-1])
    return record(VARIATES, (seed, *parameters), (name, shape, 0), array_type(drawn, dtype))

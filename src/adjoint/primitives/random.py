"""Random bits from a counter: the same key and counter always give the same bits.

Philox 4x64-10 of J. Salmon, M. Moraes, R. Dror and D. Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011),
as NumPy implements it. A draw owns the block of counters [counter, counter + ceil(words / 4)).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.graph import Node, Primitive, array_type, record
from adjoint.primitives.core import register
from adjoint.shapes import Shape


def _kernel(attributes: tuple[Shape, str], type: Any) -> Any:
    shape, dtype = attributes[0], type.dtype.dtype
    words = -(-type.size * dtype.itemsize // 8)

    def kernel(key: Any, counter: Any) -> Any:
        raw = np.random.Philox(key=int(key), counter=int(counter)).random_raw(words)
        return raw.view(dtype)[: type.size].reshape(shape)

    return kernel


RANDOM_BITS = Primitive("random_bits", _kernel)


@register
def random_bits(key: Node, counter: Node, shape: Shape, dtype: Any) -> Node:
    """Uniform bits as uint32 or uint64, from a 0-d uint64 key and counter."""
    return record(RANDOM_BITS, (key, counter), (shape, dtype.name), array_type(shape, dtype))

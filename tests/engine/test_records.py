"""What the records of operations say of them is so, by NumPy's numbers; and no table of the compiler names what isn't there."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import adjoint as ad
import test_rules
from adjoint.graph import PRIMITIVES, Node, Primitive, StandIn
from adjoint.picture.flow import compute
from operations import OPERATIONS

pytestmark = pytest.mark.filterwarnings(
    "ignore::adjoint.PrecisionWarning"
)  # rows such as isin's set float64 beside float32

EACH = 8  # of the nodes of an operation that are looked at
Numbers = list[np.ndarray[Any, Any]]


@functools.cache
def nodes() -> dict[Primitive, list[Node]]:
    """Nodes of the graphs of the table of operations, and of others, by operation."""
    found: dict[Primitive, list[Node]] = {}
    for operation in OPERATIONS:
        for graph in [*test_rules.forward_graphs(operation), *[g for _, g in test_rules.derivative_graphs(operation)]]:
            for node in graph:
                several = found.setdefault(node.op, [])
                if len(several) < EACH and type(node.type) is not tuple and node.inputs and node.type.size:
                    several.append(node)
    for graph in test_rules.other_graphs():
        for node in graph:
            if node.inputs and type(node.type) is not tuple:
                found.setdefault(node.op, []).append(node)
    return found


def having(fact: str) -> Iterator[tuple[Node, Callable[..., Any], Numbers]]:
    """Nodes of each operation of which something is said, with the kernel and the inputs' numbers."""
    known = nodes()
    said = [op for op in PRIMITIVES.values() if getattr(op, fact)]
    assert [op.name for op in said if op not in known] == []
    for node in [node for op in said for node in known[op] if node.inputs]:
        found = compute(node.inputs)
        yield node, node.op.kernel(node.attributes, node.type), [np.asarray(found[x]) for x in node.inputs]


def like(generator: np.random.Generator, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Other numbers of the kind, small integers, so that sums of them are exact."""
    found = generator.integers(-8, 9, x.shape).astype(x.dtype)
    return found + 1j * generator.integers(-8, 9, x.shape) if x.dtype.kind == "c" else found


def test_a_record_says_what_is_known() -> None:
    with pytest.raises(TypeError, match="says nothing named elementwize"):
        StandIn("another", elementwize=True)  # type: ignore[call-arg]
    assert repr(PRIMITIVES["exp"]) == "<primitive exp>" and PRIMITIVES["exp"].takes_out and not PRIMITIVES["exp"].light
    for op in PRIMITIVES.values():
        assert op.elementwise or not (op.light or op.exact or op.quotient or op.result or op.shares), op.name
        assert op.passes_on or not op.waits, op.name
        assert op.view or not op.passes_on, op.name
        assert op.combines == "" or PRIMITIVES[op.combines].elementwise, op.name


def test_what_passes_on() -> None:
    for _, kernel, inputs in having("passes_on"):
        np.testing.assert_array_equal(kernel(*inputs), inputs[0])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_linear_and_bilinear() -> None:
    generator = np.random.default_rng(0)
    for fact in ("linear", "bilinear"):
        for node, kernel, inputs in having(fact):
            floats = [k for k, x in enumerate(inputs) if x.dtype.kind in "fc"]
            if not floats or not node.dtype.inexact:
                continue
            for moved in [floats] if fact == "linear" else [[k] for k in floats]:
                a, b = ([like(generator, x) if k in moved else x for k, x in enumerate(inputs)] for _ in range(2))
                both = [x + 4 * y if k in moved else x for k, (x, y) in enumerate(zip(a, b, strict=True))]
                there = [np.asarray(kernel(*given)) for given in (a, b, both)]
                np.testing.assert_allclose(there[2], there[0] + 4 * there[1], 1e-4, 1e-3, err_msg=node.op.name)


def test_what_rearranges() -> None:
    """The kernel on the elements' numbers says where each element of the result comes from."""
    for node, kernel, inputs in having("rearranges"):
        counts = np.cumsum([1, *[x.size for x in inputs]])
        places = [np.arange(n, n + x.size).reshape(x.shape) for n, x in zip(counts, inputs, strict=False)]
        at = np.asarray(node.op.kernel(node.attributes, ad.graph.array_type(node.shape, ad.int64))(*places))
        flat = np.concatenate([np.zeros(1, inputs[0].dtype), *[x.ravel() for x in inputs]])
        np.testing.assert_array_equal(flat[at.ravel()], np.asarray(kernel(*inputs)).ravel(), err_msg=node.op.name)


def test_what_rewrites() -> None:
    """Where the result isn't the first input it has elements of the second."""
    for node, kernel, inputs in having("rewrites"):
        first, found = inputs[0], np.asarray(kernel(*inputs))
        assert found.shape == first.shape
        assert set(found[found != first].tolist()) <= set(inputs[1].ravel().tolist()), node.op.name


def test_where_indices_begin() -> None:
    for node, _, inputs in having("indices_from"):
        begin = node.op.indices_from
        assert begin < len(inputs) and all([x.dtype.kind in "iu" for x in inputs[begin:]]), node.op.name
        assert inputs[begin - 1].dtype == node.dtype.dtype, node.op.name


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_reductions_and_quotients() -> None:
    generator = np.random.default_rng(0)
    for node, _, inputs in having("combines"):
        x = like(generator, np.zeros((2, 5), inputs[0].dtype))
        two = ad.graph.array_type((5,), node.dtype)
        found = node.op.kernel((0,), two)(x)
        combined = PRIMITIVES[node.op.combines].kernel(None, two)(*x.astype(node.dtype.dtype))
        np.testing.assert_array_equal(found, combined, err_msg=node.op.name)
    for _, kernel, (a, b) in having("quotient"):
        np.testing.assert_array_equal(kernel(a, b), a / b)


def test_dtypes_of_results() -> None:
    for node, kernel, inputs in having("result"):
        found = np.asarray(kernel(*inputs)).dtype
        assert found == (bool if node.op.result == "bool" else inputs[0].real.dtype), node.op.name
    for name in ("add", "exp", "where", "isnan"):
        assert (PRIMITIVES[name].result == "bool") == (name == "isnan")


def test_exact_operations_have_numpys_bits(backends: Callable[[str], None]) -> None:
    """Machine code gives what NumPy's kernel gives, special numbers included; of a NaN any will do."""
    special = np.array([0.0, -0.0, 1.0, -2.5, 3e30, -1e-30, np.inf, -np.inf, np.nan, 1e-40, 7.0, -7.25])
    a, b = np.repeat(special, len(special)), np.tile(special, len(special))
    exact = [op for op in PRIMITIVES.values() if op.exact]
    assert len(exact) > 20
    for dtype in ("float32", "float64"):
        given = [x.astype(dtype) for x in (a, b, np.roll(b, 5))]
        made: dict[str, list[Any]] = {}
        for backend in ("numpy", "native"):
            backends(backend)
            leaves = [ad.variable(x) for x in given]
            results = [_applied(op, leaves) for op in exact]
            with np.errstate(all="ignore"):
                made[backend] = [np.asarray(x) for x in ad.function(leaves, results)(*given)]
        for op, numpys, natives in zip(exact, made["numpy"], made["native"], strict=True):
            unclear = op.name in ("maximum", "minimum") and (given[0] == 0) & (given[1] == 0)  # either zero
            same = (numpys == natives) & ((np.signbit(numpys) == np.signbit(natives)) | unclear)
            assert np.all(same | ((numpys != numpys) & (natives != natives))), (op.name, dtype)


def _applied(op: Primitive, leaves: list[Any]) -> Any:
    x, y, z = leaves
    if op.name == "where":
        return ad.where(x > y, x, z)
    if op.name == "astype":
        return x.astype("float64" if x.dtype == ad.float32 else "float32")
    rule = op.vjp
    assert isinstance(rule, tuple)
    node = Node(op, (x.node, y.node)[: len(rule)], None, x.node.type, None, 0, False)
    if op.result == "bool":
        node = Node(op, node.inputs, None, ad.graph.array_type(x.shape, ad.bool), None, 0, False)
    return ad.tensors.named.wrap(node)


def test_tables_of_the_compiler_name_primitives() -> None:
    pytest.importorskip("llvmlite")
    import adjoint.fft
    import adjoint.linalg
    import adjoint.special  # noqa: F401  their primitives
    from adjoint.compiler.fuse.kinds import VIEWS
    from adjoint.compiler.loops import build_lapack, complex_math, formulas, matrix_formulas, routines, running_formulas

    assert build_lapack.EMIT.keys() == routines.ROUTINES.keys()
    assert {name for name, op in PRIMITIVES.items() if op.combines} == formulas.REDUCTIONS.keys()
    for table in (formulas.LOWERED, complex_math.FORMULAS):
        assert all(PRIMITIVES[name].elementwise for name in table)
    for names in (
        VIEWS,
        running_formulas.FORMULAS,
        routines.ROUTINES,
        matrix_formulas.LOWERED - {"expm", "expm_derivative"},
    ):
        assert names - PRIMITIVES.keys() == set()
    native = {name for name, op in PRIMITIVES.items() if op.native is not None}
    assert native and native.isdisjoint(formulas.LOWERED)
    assert all([formulas.has_formula(op.name) for op in PRIMITIVES.values() if op.light]) and all(
        PRIMITIVES[name].view for name in VIEWS
    )

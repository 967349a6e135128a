"""`vmap`: every operation of the table against a loop, then everything around it."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import adjoint as ad
import adjoint.batch
from adjoint.batch import rules
from adjoint.graph import PRIMITIVES, topological
from derivative_checks import random_like, values
from operation_rows import inexact_arrays
from operations import OPERATIONS
from support import double, equal

EXAMPLES = 2
ROWS = [
    pytest.param(operation, case, dtype, id=f"{operation.name}-{number}-{dtype}")
    for operation in OPERATIONS
    if "unique" not in operation.name
    and operation.name not in ("nonzero", "histogram", "roots")  # these ask for values
    for number, case in enumerate(operation.cases)
    for letter, dtype in (("f", "float64"), ("c", "complex128"))
    if letter in operation.dtypes and inexact_arrays(operation.draw(case, dtype))
]


def agree(found, examples, tolerance):
    """Batched results against a list of results, one for each example."""
    for one, column in zip(found, zip(*examples, strict=True), strict=True):
        expected = np.stack(column)
        assert one.dtype == expected.dtype
        scale = tolerance * (1 + np.abs(expected[np.isfinite(expected)]).astype(float).max(initial=0))
        np.testing.assert_allclose(one, expected, tolerance, scale)


def test_no_primitive_lacks_a_rule():
    for primitive in PRIMITIVES.values():
        assert callable(adjoint.batch.rule_of(primitive)), primitive.name


@pytest.mark.parametrize(("operation", "case", "dtype"), ROWS)
def test_every_operation_equals_a_loop(operation, case, dtype):
    """Values, and the gradients of each example, with each input batched alone and all together."""
    arguments = operation.draw(case, dtype)
    arrays = inexact_arrays(arguments)
    generator = np.random.default_rng(0)
    # other examples in the same domain: the same numbers in another order
    batches = [
        np.stack([x, *(generator.permutation(x.reshape(-1)).reshape(x.shape) for _ in range(EXAMPLES - 1))])
        for x in arrays
    ]

    def call(*tensors):
        return operation.of_tensors(case, arguments, tensors)

    def pullback(cotangents, *tensors):
        outputs, pull = ad.vjp(call, *tensors)
        return pull([u if y.dtype.kind in "fc" else None for u, y in zip(cotangents, outputs, strict=True)])

    selections = {tuple(range(len(arrays))), *((i,) for i in range(len(arrays)))}
    for selection in sorted(selections):
        in_axes = tuple(0 if i in selection else None for i in range(len(arrays)))
        given = [ad.tensor(b if i in selection else x) for i, (x, b) in enumerate(zip(arrays, batches, strict=True))]
        examples = [
            [ad.tensor(batches[i][e] if i in selection else x) for i, x in enumerate(arrays)] for e in range(EXAMPLES)
        ]
        loop = [values(call(*each)) for each in examples]
        together = values(ad.vmap(call, in_axes)(*given))
        agree(together, loop, 1e-12)
        if case.only_value:
            continue
        cotangents = [ad.tensor(u) for u in random_like(loop[0], generator)]
        found = values(ad.vmap(pullback, (None, *in_axes))(cotangents, *given))
        one_by_one = [values(pullback(cotangents, *each)) for each in examples]
        agree(found, one_by_one, 1e-10)


# Axes and containers --------------------------------------------------------------------------------------------------


def test_axes_in_and_out():
    x = double(np.arange(24.0).reshape(2, 3, 4))
    plain = x.numpy()
    for axis in (0, 1, 2, -1, -2, -3):
        equal(ad.vmap(lambda r: r * 2 + 1, in_axes=axis)(x), np.moveaxis(plain, axis, 0) * 2 + 1)
    for place in (0, 1, 2, -1, -2, -3):
        equal(ad.vmap(lambda r: r + 1, out_axes=place)(x), np.moveaxis(plain + 1, 0, place))
    equal(ad.vmap(lambda r, s: r @ s, in_axes=(-1, None), out_axes=-1)(x, double(np.ones(3))), plain.sum(1))


def test_containers_of_axes():
    data = {"a": double(np.arange(6.0).reshape(2, 3)), "b": [double(np.arange(3.0)), double(5.0)]}

    def f(tree, scale):
        return {"sum": tree["a"].sum() + tree["b"][0] * scale, "pair": (tree["b"][1] * 2, tree["a"])}

    found = ad.vmap(f, in_axes=({"a": 1, "b": [0, None]}, None), out_axes={"sum": 0, "pair": (None, -1)})(data, 10.0)
    equal(found["sum"], data["a"].numpy().sum(0) + 10 * np.arange(3))
    equal(found["pair"][0], 10.0)
    equal(found["pair"][1], data["a"].numpy())


def test_nested_over_dictionaries():
    x = {"u": double(np.arange(6.0).reshape(2, 3)), "v": double(np.arange(12.0).reshape(2, 3, 2))}
    f = lambda t: {"out": t["u"] * t["v"].sum()}  # noqa: E731
    found = ad.vmap(ad.vmap(f))(x)["out"]
    equal(found, x["u"].numpy() * x["v"].numpy().sum(-1))
    table = ad.vmap(ad.vmap(lambda a, b: a - b, in_axes=(None, 0)), in_axes=(0, None))(x["u"][0], x["u"][1])
    equal(table, x["u"].numpy()[0][:, None] - x["u"].numpy()[1])


def test_an_output_that_is_the_same_for_every_example():
    equal(ad.vmap(lambda x: double([1.0, 2.0]))(double(np.zeros(3))), [[1.0, 2.0]] * 3)
    equal(ad.vmap(lambda x: 7.0, out_axes=None)(double(np.zeros(3))), 7.0)
    with pytest.raises(ValueError, match=r"out_axes is None.*test_batching.py:\d+"):
        ad.vmap(lambda x: x, out_axes=None)(double(np.zeros(3)))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x.sum() + ad.ones(4, dtype="float64"),
        lambda x: ad.sort(x)[::-1],
        lambda x: x[ad.argmax(x)],
        lambda x: ad.cumulative_sum(x) @ x,
        lambda x: ad.einsum("i,j->ij", x, x),
        lambda x: ad.random.normal((2,), dtype="float64") * x[0],
        lambda x: ad.softmax(x),
        lambda x: ad.host_call(np.sin, x, shape=(3,), dtype="float64"),
    ],
)
def test_empty_batches(f):
    like = f(double(np.ones(3)))
    found = ad.vmap(f)(double(np.zeros((0, 3))))
    assert found.numpy().shape == (0, *like.shape)
    gradient = ad.vmap(ad.grad(lambda x: (x**2).sum()))(double(np.zeros((0, 3))))
    assert gradient.numpy().shape == (0, 3)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: ad.vmap(lambda a, b: a)(x, x[:1]), ValueError, "2 examples in one argument and 1"),
        (lambda x: ad.vmap(lambda a: a, in_axes=2)(x), ValueError, "no axis 2"),
        (lambda x: ad.vmap(lambda a: a)(3.0), ValueError, "in_axes None shares"),
        (lambda x: ad.vmap(lambda a: a, in_axes=None)(x), ValueError, "nothing to map over"),
        (lambda x: ad.vmap(lambda a: a, in_axes=(0, 0))(x), ValueError, "2 entries for 1"),
        (lambda x: ad.vmap(lambda a: a, in_axes=({"a": 0},))({"b": x}), ValueError, "does not fit"),
        (lambda x: ad.vmap(lambda a: a, in_axes=1.5)(x), TypeError, "takes ints"),
        (lambda x: ad.vmap(lambda a, s: a)(x, "text"), TypeError, "map over a str"),
        (lambda x: ad.vmap(lambda a: a, out_axes=5)(x), ValueError, "out_axes 5"),
        (lambda x: ad.vmap(lambda a: "text")(x), TypeError, "returned a str"),
        (lambda x: ad.vmap(lambda a: a if a.sum() > 0 else -a)(x), RuntimeError, "ad.where"),
        (lambda x: ad.vmap(lambda a: a.sum().item())(x), RuntimeError, "a value is needed"),
        (lambda x: ad.vmap(lambda a: a[a > 0])(x), RuntimeError, "the shape of this depends on values"),
        (lambda x: ad.vmap(lambda a: ad.random.normal(()).item())(x), RuntimeError, "a random number"),
    ],
)
def test_misuse_names_the_line(call, error, message):
    with pytest.raises(error, match=f"(?s){message}.*test_batching.py:\\d+"):
        call(double(np.ones((2, 3))))


# Indexing with batched positions --------------------------------------------------------------------------------------


def assigned(x, i, v):
    y = x * 1
    y[i] = v
    return y


@pytest.mark.parametrize("in_axes", [(0, None), (None, 0), (0, 0)])
@pytest.mark.parametrize(
    "f",
    [
        lambda x, i: x[i],
        lambda x, i: x[i, 1:],
        lambda x, i: x[:, i],
        lambda x, i: x[:, i[0]],
        lambda x, i: x[i, i[::-1]],
        lambda x, i: assigned(x, i, x[0] * 2),
        lambda x, i: assigned(x, (slice(None), i), x[:, :2] * 3),
        lambda x, i: assigned(x, i[0], x[2]),
        lambda x, i: ad.scatter_add(x, i, x[:2] * 2),
        lambda x, i: ad.take(x, i, axis=1),
        lambda x, i: ad.where(x > i[0], x, -x)[i[1]],
    ],
)
def test_positions(f, in_axes):
    generator = np.random.default_rng(0)
    x, i = generator.normal(size=(4, 3, 3)), generator.integers(0, 3, (4, 2))
    i[:, 1] = (i[:, 0] + 1) % 3  # two writes never meet: which one would win is not the point here
    xs, positions = (ad.tensor(v if a == 0 else v[0]) for v, a in zip((x, i), in_axes, strict=True))
    each = [tuple(ad.tensor(v[e] if a == 0 else v[0]) for v, a in zip((x, i), in_axes, strict=True)) for e in range(4)]
    equal(ad.vmap(f, in_axes)(xs, positions), np.stack([f(*one).numpy() for one in each]))
    g = ad.grad(lambda x, i: (f(x, i) ** 3).sum())
    equal(ad.vmap(g, in_axes)(xs, positions), np.stack([g(*one).numpy() for one in each]))
    twice = ad.vmap(ad.vmap(f, in_axes), in_axes)
    if in_axes == (0, 0):
        equal(
            twice(ad.stack([xs, xs * 2]), ad.stack([positions, positions])),
            np.stack([ad.vmap(f)(xs, positions).numpy(), ad.vmap(f)(xs * 2, positions).numpy()]),
        )


# Random numbers -------------------------------------------------------------------------------------------------------


def test_random_numbers_differ_between_examples():
    drawn = ad.vmap(lambda x: x + ad.random.normal((100,), dtype="float64"))(double(np.zeros(50))).numpy()
    assert len(np.unique(drawn)) == drawn.size
    assert abs(drawn.mean()) < 0.05 and abs(drawn.std() - 1) < 0.05
    assert np.abs(np.corrcoef(drawn) - np.eye(50)).max() < 0.5


def test_random_numbers_are_reproduced_and_never_repeated():
    def three(x):
        return ad.stack([x + ad.random.uniform((4,), dtype="float64") for _ in range(3)])

    def draw():
        ad.random.seed(3)
        before = ad.random.uniform((16,), dtype="float64").numpy()
        inside = ad.vmap(ad.vmap(three))(double(np.zeros((2, 5)))).numpy()
        return np.concatenate([before, inside.reshape(-1), ad.random.uniform((16,), dtype="float64").numpy()])

    first = draw()
    assert len(np.unique(first)) == first.size
    np.testing.assert_array_equal(first, draw())


def test_an_example_draws_the_same_in_any_batch():
    def draw(n):
        ad.random.seed(1)
        return ad.vmap(lambda x: x + ad.random.uniform((2,), dtype="float64"))(double(np.zeros(n))).numpy()

    np.testing.assert_array_equal(draw(3), draw(10)[:3])


def test_vectorized_philox_is_numpys():
    from adjoint.primitives.random import philox

    keys = np.array([0, 5, 2**63 + 11], np.uint64)
    counters = np.array([0, 77, 2**40], np.uint64)
    lanes = np.array([0, 1, 9], np.uint64)
    found = philox(keys, counters, lanes, 0, 11)
    for k in range(3):
        start = int(counters[k]) + (int(lanes[k]) << 64)
        np.testing.assert_array_equal(found[k], np.random.Philox(key=int(keys[k]), counter=start).random_raw(11))


def test_a_generator_for_each_example():
    from adjoint.dtypes import uint32, uint64
    from adjoint.execution import evaluate
    from adjoint.graph import array_type
    from adjoint.primitives.core import data, ops, placeholder

    stand_in = placeholder(array_type((), uint64), "key", False)
    bits = ops.random_bits(stand_in, data(np.array(3, np.uint64)), (2, 3), uint32)
    keys = np.array([4, 8], np.uint64)
    (batched,) = adjoint.batch.Batch(2, {stand_in: data(keys)}).run([bits])
    one_by_one = [ops.random_bits(data(np.array(k)), data(np.array(3, np.uint64)), (2, 3), uint32) for k in keys]
    evaluate([batched, *one_by_one])
    np.testing.assert_array_equal(batched.value, np.stack([x.value for x in one_by_one]))


# What users define ----------------------------------------------------------------------------------------------------


def test_custom_rules_are_batched():
    @ad.custom_vjp
    def clipped(x, y):
        return x * y

    clipped.def_vjp(
        lambda x, y: (x * y, (x, y)), lambda r, g: (ad.clip(g, -1, 1) * r[1] * 10, ad.clip(g, -1, 1) * r[0])
    )
    x, y = double([1.0, 2.0, 3.0]), double(4.0)
    loop = [ad.grad(lambda a, b: 5 * clipped(a, b) ** 2, (0, 1))(v, y) for v in x]
    found = ad.vmap(ad.grad(lambda a, b: 5 * clipped(a, b) ** 2, (0, 1)), (0, None))(x, y)
    for k in range(2):
        equal(found[k], [one[k].item() for one in loop])
    total = ad.grad(lambda a, b: ad.vmap(clipped, (0, None))(a, b).sum(), (0, 1))(x, y)
    equal(total[0], [40.0] * 3)
    equal(total[1], 6.0)
    second = ad.vmap(ad.grad(ad.grad(lambda a: clipped(a, a * a))))(x)
    equal(second, [ad.grad(ad.grad(lambda a: clipped(a, a * a)))(v).item() for v in x])
    nested = ad.vmap(ad.vmap(ad.grad(lambda a: clipped(a, a))))(double([[1.0, 2.0], [3.0, 4.0]]))
    equal(nested, 11 * np.array([[1.0, 2.0], [3.0, 4.0]]))


def test_functions_that_record_are_batched():
    class Cube(ad.Function):
        @staticmethod
        def forward(ctx, x):
            y = x**3
            ctx.save_for_backward(x, y)
            return y, x * 2

        @staticmethod
        def backward(ctx, g, h):
            x, y = ctx.saved_tensors
            return g * 3 * y / x + 2 * h

    x = double([1.0, 2.0, 3.0])
    equal(ad.vmap(ad.grad(lambda v: Cube.apply(v)[0]))(x), 3 * x.numpy() ** 2)
    equal(ad.vmap(ad.grad(ad.grad(lambda v: Cube.apply(v)[0] + Cube.apply(v)[1])))(x), 6 * x.numpy())
    equal(ad.grad(lambda v: sum(t.sum() for t in ad.vmap(Cube.apply)(v)))(x), 3 * x.numpy() ** 2 + 2)


@pytest.mark.parametrize("vmap", [None, lambda x, y: np.sort(x, -1) * y[:, None]], ids=["looped", "batched"])
def test_host_calls(vmap):
    def f(x, y):
        return ad.host_call(
            lambda a, b: np.sort(a) * b, x, y, shape=(3,), dtype="float64", vmap=vmap,
            vjp=lambda g, a, b: (ad.take_along_axis(g * b, ad.argsort(ad.argsort(a)), axis=0), (g * ad.sort(a)).sum()),
        )  # fmt: skip

    generator = np.random.default_rng(0)
    x, y = double(generator.normal(size=(2, 4, 3))), double(generator.normal(size=4))
    expected = np.sort(x.numpy(), -1) * y.numpy()[:, None]
    equal(ad.vmap(f)(x[0], y), expected[0])
    equal(ad.vmap(ad.vmap(f), (0, None))(x, y), expected)
    g = ad.grad(lambda a, b: (f(a, b) ** 2).sum(), (0, 1))
    for found, column in zip(
        ad.vmap(g)(x[0], y), zip(*(g(a, b) for a, b in zip(x[0], y, strict=True)), strict=True), strict=True
    ):
        equal(found, np.stack([v.numpy() for v in column]))
    outside = ad.grad(lambda a: (ad.vmap(ad.vmap(f), (0, None))(a, y) ** 2).sum())(x)
    equal(outside, 2 * x.numpy() * y.numpy()[:, None] ** 2)


def test_batched_custom_rules_make_no_cycles():
    @ad.custom_vjp
    def f(x):
        return ad.sin(x) * x

    f.def_vjp(lambda x: (ad.sin(x) * x, (x, ad.cos(x))), lambda r, g: (g * r[0] * r[1],))
    x = double([1.0, 2.0])

    def nodes():
        ad.vmap(ad.grad(lambda v: f(f(v))))(x).numpy()
        ad.vmap(lambda v: f(f(v)))(x).numpy()
        return sum(type(o).__name__ in ("Node", "Batch") for o in gc.get_objects())

    gc.collect()
    gc.disable()
    try:
        first = [nodes() for _ in range(3)]
        later = [nodes() for _ in range(3)]
    finally:
        gc.enable()
    assert max(later) <= max(first)


def test_host_calls_with_several_outputs():
    f = lambda x: ad.host_call(  # noqa: E731
        lambda a: (a.sum(), a * 2), x, shape=[(), (3,)], dtype="float64", vjp=lambda g, a: (g[0] + 2 * g[1],)
    )
    x = double(np.arange(6.0).reshape(2, 3))
    total, doubled = ad.vmap(f)(x)
    equal(total, [3.0, 12.0])
    equal(doubled, 2 * x.numpy())
    equal(ad.vmap(ad.grad(lambda v: f(v)[0] + f(v)[1].sum()))(x), np.full((2, 3), 3.0))


# Together with the rest of the engine ---------------------------------------------------------------------------------


def test_gradients_flow_to_what_is_closed_over():
    w = ad.variable(double([1.0, 2.0]).numpy())
    x = double([[1.0, 0.0], [3.0, 5.0]])
    ad.vmap(lambda r: (r * w).sum() ** 2)(x).sum().backward()
    equal(w.grad, 2 * (x.numpy() @ [1.0, 2.0]) @ x.numpy())
    y = ad.variable(2.0)
    total = ad.vmap(lambda r: r * y)(ad.tensor([1.0, 2.0])).sum()
    equal(ad.gradients(total, [y])[0], 3.0)


def test_no_grad_stays_no_grad():
    def f(x):
        with ad.no_grad():
            c = x * 2
        return c * x + ad.stop_gradient(x) * x

    x = double([1.0, 2.0])
    equal(ad.grad(lambda v: ad.vmap(f)(v).sum())(x), 3 * x.numpy())
    equal(ad.vmap(ad.grad(f))(x), 3 * x.numpy())
    assert not ad.vmap(f)(x).requires_grad


def test_the_function_is_called_once():
    calls = []

    def f(x):
        calls.append(x.shape)
        return x * 2

    ad.vmap(f)(double(np.zeros((1000, 2)))).numpy()
    assert calls == [(2,)]


def test_what_was_computed_before_is_not_walked():
    """A tracked tensor with a long history that has its value is one constant to vmap."""
    h = ad.variable(0.1)
    for _ in range(2000):
        h = ad.sin(h) + 0.1
    h.item()
    y = ad.vmap(lambda x: x * h)(ad.tensor([1.0, 2.0]))
    assert len(topological([y.node], lambda n: n.value is None)) < 10
    (dh,) = ad.gradients(y.sum(), [h])
    equal(dh, 3.0)


def test_a_long_chain_inside():
    def f(x):
        for _ in range(20_000):
            x = x + 1.0
        return x

    equal(ad.vmap(f)(double([0.0, 1.0])), [20_000.0, 20_001.0])


def test_in_place_code_and_loops_inside():
    def f(x):
        total = ad.zeros(3, dtype="float64")
        for k in range(3):
            total[k] = x[k] * k
            total += 1
        return total

    x = np.random.default_rng(0).normal(size=(4, 3))
    equal(ad.vmap(f)(ad.tensor(x)), np.stack([f(ad.tensor(r)).numpy() for r in x]))


def test_a_network_with_per_example_gradients():
    ad.set_default_dtype("float64")
    ad.random.seed(0)
    model = ad.nn.Sequential(ad.nn.Linear(5, 7), ad.nn.Tanh(), ad.nn.Linear(7, 3))
    x, target = ad.random.normal((6, 5)), ad.tensor([0, 1, 2, 0, 1, 2])
    loss = lambda m, a, t: ad.nn.functional.cross_entropy(m(a.reshape(1, 5)), t.reshape(1))  # noqa: E731
    found = ad.vmap(ad.grad(loss), in_axes=(None, 0, 0))(model, x, target)
    each = [ad.grad(loss)(model, a, t) for a, t in zip(x, target, strict=True)]
    for k, gradient in enumerate(ad.tree.flatten(found)[0]):
        equal(gradient, np.stack([ad.tree.flatten(one)[0][k].numpy() for one in each]))


def test_functions_that_call_equal_ones_in_the_same_way_are_equal() -> None:
    looped, merged = rules._Looped(abs, False, ((), "float64")), rules._Merged(abs)
    again = rules._Looped(abs, False, ((), "float64"))
    assert looped == again and hash(looped) == hash(again) and merged == rules._Merged(abs)
    assert looped != merged != rules._Merged(len) and looped != rules._Looped(abs, True, ((), "float64"))
    assert rules._Looped(abs) != rules._Merged(abs)

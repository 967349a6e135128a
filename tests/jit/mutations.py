"""Ways to change what a function has seen, each beside the function that isn't jitted: tables for test_jit_mutations.py.

A *case* is a function of `jit` (`ad.jit`, or what leaves a function as it is). It makes state of its own and gives (f, change):
f() gives a result, change(k) changes, for the k-th time, what f reads. Two cases made alike, one of them jitted, must give equal
results in every call, or the jitted one must raise.
"""

from __future__ import annotations

import array
import dataclasses
import enum
import functools
import itertools
import random
import sys
import types
from collections import Counter, OrderedDict, UserDict, defaultdict, deque, namedtuple
from contextvars import ContextVar

import numpy as np

import adjoint as ad
from adjoint import nn, optim

X = ad.tensor([1.0, 2.0, 3.0])

# Values that change in place, and how ------------------------------------------------------------------------------------


def weighed(values):
    """A number that depends on values and their order."""
    return sum([(k + 1.0) * float(x) for k, x in enumerate(values)], 0.0)


def of_items(d):
    return weighed([len(str(key)) + 10 * value for key, value in d.items()])


def put(owner, key, value):
    owner[key] = value


def cut(owner, key):
    del owner[key]


def restored(d, key):
    """The same entries in another order."""
    d[key] = d.pop(key)


# name -> (make, read, {name: change(value, k)})
VALUES = {
    "list": (
        lambda: [3.0, 1.0, 2.0],
        weighed,
        {
            "append": lambda v, k: v.append(float(k)),
            "item": lambda v, k: put(v, 0, 10.0 + k),
            "slice": lambda v, k: put(v, slice(0, 1), [5.0 + k, 6.0]),
            "extend": lambda v, k: v.extend([k, k]),
            "insert": lambda v, k: v.insert(0, 7.0 + k),
            "pop": lambda v, k: v.pop(),
            "remove": lambda v, k: v.remove(v[0]),
            "delete": lambda v, k: cut(v, 0),
            "sort": lambda v, k: v.sort(reverse=bool(k % 2)),
            "reverse": lambda v, k: v.reverse(),
            "clear": lambda v, k: v.clear(),
            "iadd": lambda v, k: v.__iadd__([1.0 + k]),
            "imul": lambda v, k: v.__imul__(2),
            "shuffle": lambda v, k: random.Random(k + 1).shuffle(v),
        },
    ),
    "long list": (
        lambda: [float(k) for k in range(50)],
        weighed,
        {"item": lambda v, k: put(v, 40, 10.0 + k), "reverse": lambda v, k: v.reverse()},
    ),
    "dict": (
        lambda: {"a": 1.0, "bb": 2.0},
        of_items,
        {
            "item": lambda v, k: put(v, "a", 5.0 + k),
            "new": lambda v, k: put(v, "c" * (k + 3), 5.0),
            "update": lambda v, k: v.update(a=7.0 + k),
            "ior": lambda v, k: v.__ior__({"bb": 9.0 + k}),
            "pop": lambda v, k: v.pop("a", None),
            "popitem": lambda v, k: v.popitem() if v else None,
            "delete": lambda v, k: v.pop("bb", None),
            "clear": lambda v, k: v.clear(),
            "setdefault": lambda v, k: v.setdefault("d" * (k + 4), 3.0),
            "order": lambda v, k: restored(v, next(iter(v))),
            "key": lambda v, k: put(v, f"key{10**k}", v.pop(next(iter(v)))),
        },
    ),
    "long dict": (
        lambda: {f"k{k}": float(k) for k in range(50)},
        of_items,
        {"item": lambda v, k: put(v, "k40", 5.0 + k), "order": lambda v, k: restored(v, next(iter(v)))},
    ),
    "nested": (
        lambda: {"a": [1.0, {"b": [2.0]}]},
        lambda v: weighed(v["a"][1]["b"]) + v["a"][0],
        {"deep": lambda v, k: v["a"][1]["b"].append(4.0), "middle": lambda v, k: put(v["a"], 0, 3.0 + k)},
    ),
    "set": (
        lambda: {1.0, 2.0},
        lambda v: float(sum(v)),
        {
            "add": lambda v, k: v.add(5.0 + k),
            "discard": lambda v, k: v.discard(1.0 + k),
            "ior": lambda v, k: v.__ior__({8.0 + k}),
            "clear": lambda v, k: v.clear(),
        },
    ),
    "array": (
        lambda: np.array([3.0, 1.0, 2.0]),
        weighed,
        {
            "item": lambda v, k: put(v, 0, 10.0 + k),
            "iadd": lambda v, k: v.__iadd__(1.0),
            "fill": lambda v, k: v.fill(4.0 + k),
            "sort": lambda v, k: v.sort() if k == 0 else v.put([0], [9.0]),
            "copyto": lambda v, k: np.copyto(v, [k, 5.0, 6.0]),
            "out": lambda v, k: np.multiply(v, 2.0, out=v),
            "view": lambda v, k: put(v[::-1], 0, 20.0 + k),
            "buffer": lambda v, k: put(memoryview(v), 1, 30.0 + k),
        },
    ),
    "view": (
        lambda: np.arange(8.0)[::2],
        weighed,
        {"item": lambda v, k: put(v, 0, 10.0 + k), "base": lambda v, k: put(v.base, 2, 50.0 + k)},
    ),
    "array of objects": (
        lambda: np.array([[1.0], [2.0, 3.0]], dtype=object),
        lambda v: weighed(v[1]),
        {"inside": lambda v, k: v[1].append(5.0), "item": lambda v, k: put(v, 1, [7.0 + k])},
    ),
    "array of tensors": (
        lambda: [ad.tensor(2.0), ad.tensor(3.0)],
        lambda v: sum(v),
        {
            "item": lambda v, k: put(v, 0, ad.tensor(9.0 + k)),
            "value": lambda v, k: put(v, 0, v[0].__iadd__(1.0)),
            "append": lambda v, k: v.append(ad.tensor(4.0)),
        },
    ),
    "bytearray": (
        lambda: bytearray(b"abc"),
        weighed,
        {"item": lambda v, k: put(v, 0, 7 + k), "+": lambda v, k: v.extend(b"x")},
    ),
    "array.array": (lambda: array.array("d", [1.0, 2.0]), weighed, {"item": lambda v, k: put(v, 0, 7.0 + k)}),
    "deque": (
        lambda: deque([1.0, 2.0, 4.0]),
        weighed,
        {"append": lambda v, k: v.append(5.0), "rotate": lambda v, k: v.rotate(1), "popleft": lambda v, k: v.popleft()},
    ),
    "OrderedDict": (lambda: OrderedDict(a=1.0, bb=2.0), of_items, {"move": lambda v, k: v.move_to_end(next(iter(v)))}),
    "defaultdict": (lambda: defaultdict(float, a=1.0), of_items, {"missing": lambda v, k: v["b" * (k + 2)]}),
    "Counter": (lambda: Counter("aab"), of_items, {"update": lambda v, k: v.update("b" * 5)}),
    "UserDict": (lambda: UserDict(a=1.0), of_items, {"item": lambda v, k: put(v, "a", 8.0 + k)}),
}

# Where a function finds a value ---------------------------------------------------------------------------------------------


class Holder:
    """A plain object."""

    def __init__(self, value):
        self.value = value
        self.unread = 0


class Slots:
    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value


@dataclasses.dataclass
class Config:
    value: object
    other: int = 3


class Held(nn.Module):
    def __init__(self, value):
        self.value = value
        self.layer = nn.ReLU()

    def forward(self, x, read):
        return self.layer(x) * read(self.value)


Pair = namedtuple("Pair", "value other")
CONTEXT = ContextVar("value")


def in_closure(value, read, jit):
    return jit(lambda: X * read(value))


def in_global(value, read, jit):
    names = {"value": value, "X": X, "read": read}
    exec("def f(): return X * read(value)", names)
    return jit(names["f"])


def in_global_of_a_helper(value, read, jit):
    names = {"value": value, "read": read}
    exec("def inner(): return read(value)\ndef helper(): return inner()", names)
    helper = names["helper"]
    return jit(lambda: X * helper())


def in_comprehension(value, read, jit):
    return jit(lambda: sum([X * y for y in [read(v) for v in [value]]]))


def in_a_module(value, read, jit):
    config = types.ModuleType("config_of_a_user")
    config.__file__ = __file__
    config.value = value
    return jit(lambda: X * read(config.value))


def in_an_object(value, read, jit):
    holder = Holder(value)
    return jit(lambda: X * read(holder.value))


def in_an_inner_object(value, read, jit):
    holder = Holder(types.SimpleNamespace(inner=Holder({"key": (value, 1)})))
    return jit(lambda: X * read(holder.value.inner.value["key"][0]))


def in_a_local_name(value, read, jit):
    holder = Holder(Holder(value))

    def f():
        inner = holder.value
        return X * read(getattr(inner, "value"))  # noqa: B009

    return jit(f)


def in_slots(value, read, jit):
    holder = Slots(value)
    return jit(lambda: X * read(holder.value))


def in_vars(value, read, jit):
    holder = Holder(value)
    return jit(lambda: X * read(vars(holder)["value"]))


def in_a_computed_name(value, read, jit):
    holder = Holder(value)
    return jit(lambda: X * read(getattr(holder, "val" + "ue"[:])))


def in_a_class(value, read, jit):
    class Own:
        constant = value

    return jit(lambda: X * read(Own.constant))


def in_a_base_class(value, read, jit):
    class Base:
        constant = value

        def scaled(self, x):
            return x * read(self.constant)

    class Own(Base):
        pass

    own = Own()
    return jit(lambda: own.scaled(X))


def in_a_class_made_inside(value, read, jit):
    class Own:
        constant = value

        def __call__(self, x):
            return x * read(self.constant)

    return jit(lambda: Own()(X))


def behind_a_property(value, read, jit):
    class Own:
        def __init__(self):
            self._value = value

        @property
        def value(self):
            return self._value

    own = Own()
    return jit(lambda: X * read(own.value))


def in_a_bound_method(value, read, jit):
    class Own:
        def __init__(self):
            self.value = value
            self.call = jit(self._call)

        def _call(self):
            return X * read(self.value)

    return Own().call


def in_a_jitted_method(value, read, jit):
    class Own:
        def __init__(self):
            self.value = value

        @jit
        def call(self):
            return X * read(self.value)

    return Own().call


def in_a_callable_object(value, read, jit):
    class Own:
        def __init__(self):
            self.value = value

        def __call__(self):
            return X * read(self.value)

    return jit(Own())


def in_a_module_of_nn(value, read, jit):
    held = Held(value)
    return jit(lambda: held(X, read))


def in_a_class_of_nn(value, read, jit):
    class Own(nn.Module):
        constant = value

        def forward(self, x):
            return x * read(self.constant)

    own = Own()
    return jit(lambda: own(X))


def in_a_default(value, read, jit):
    def f(given=value):
        return X * read(given)

    return jit(f)


def in_a_default_of_a_helper(value, read, jit):
    def helper(*, given=value):
        return read(given)

    return jit(lambda: X * helper())


def in_a_partial(value, read, jit):
    return jit(functools.partial(lambda v, other: X * read(v), value, other=1))


def in_a_dataclass(value, read, jit):
    config = Config(value)
    return jit(lambda: X * read(config.value))


def in_a_named_tuple(value, read, jit):
    pair = Pair(value, 1)
    return jit(lambda: X * read(pair.value))


def in_an_argument(value, read, jit):
    holder = Holder(value)
    f = jit(lambda h: X * read(h.value))
    return lambda: f(holder)


def in_a_function(value, read, jit):
    def f():
        return X * read(f.value)

    f.value = value
    return jit(f)


def inside_grad(value, read, jit):
    gradient = ad.grad(lambda x: (x**2 * read(value)).sum())
    return jit(lambda: gradient(X))


def in_an_inner_jit(value, read, jit):
    inner = jit(lambda x: x * read(value))
    return jit(lambda: inner(X) + 1)


def under_a_decorator(value, read, jit):
    def decorated(f):
        @functools.wraps(f)
        def call():
            return f() * 2

        return call

    @decorated
    def f():
        return X * read(value)

    return jit(f)


def in_a_generator(value, read, jit):
    def parts():
        yield X * read(value)

    return jit(lambda: sum(parts()))


def sorted_by_a_key(value, read, jit):
    def key(k):
        return k * read(value)

    return jit(lambda: X * key(sorted([1, 2], key=key)[0]))


def in_a_context_variable(value, read, jit):
    CONTEXT.set(value)
    return jit(lambda: X * read(CONTEXT.get()))


def in_an_enum(value, read, jit):
    class Mode(enum.Enum):
        ONE = Holder(value)

    return jit(lambda: X * read(Mode.ONE.value.value))


PLACES = {f.__name__: f for f in [
    in_closure, in_global, in_global_of_a_helper, in_comprehension, in_a_module, in_an_object, in_an_inner_object,
    in_a_local_name, in_slots, in_vars, in_a_computed_name, in_a_class, in_a_base_class, in_a_class_made_inside,
    behind_a_property, in_a_bound_method, in_a_jitted_method, in_a_callable_object, in_a_module_of_nn,
    in_a_class_of_nn, in_a_default, in_a_default_of_a_helper, in_a_partial, in_a_dataclass, in_a_named_tuple,
    in_an_argument, in_a_function, inside_grad, in_an_inner_jit, under_a_decorator, in_a_generator, sorted_by_a_key,
    in_a_context_variable, in_an_enum,
]}  # fmt: skip


def case_of(place, kind, change):
    """A value of a kind at a place, changed in one way."""
    make, read, changes = VALUES[kind]

    def case(jit):
        value = make()
        return PLACES[place](value, read, jit), lambda k: changes[change](value, k)

    return case


CASES = {}
for _kind, (_, _, _changes) in VALUES.items():
    for _change in _changes:
        for _place in ("in_closure", "in_a_module_of_nn"):
            CASES[f"{_kind}: {_change}, {_place}"] = case_of(_place, _kind, _change)
for _place in PLACES:
    for _kind, _change in (("list", "item"), ("dict", "update"), ("array", "iadd")):
        CASES[f"{_kind}: {_change}, {_place}"] = case_of(_place, _kind, _change)


# Single cases -----------------------------------------------------------------------------------------------------------------


def single(case):
    """Put a case into the table, under its name."""
    CASES[case.__name__.replace("_", " ")] = case
    return case


def float_argument(read):
    """A case that calls with other floats."""

    def case(jit):
        f = jit(lambda lr: X * read(lr))
        state = [0.5]
        return lambda: f(state[0]), lambda k: put(state, 0, [0.25, 0.125, 0.5][k % 3])

    return case


TABLE = {"0.5": 1.0, "0.25": 2.0, "0.125": 3.0}
for _name, _read in {
    "str": lambda lr: float(str(lr)),
    "repr": lambda lr: float(repr(lr)),
    "f-string": lambda lr: TABLE[f"{lr}"],
    "f-string with a format": lambda lr: float(f"{lr:.3f}"),
    "format": lambda lr: float(f"{lr:g}"),
    "percent": lambda lr: float("%g" % lr) + len("%s" % lr),  # noqa: UP031
    "a table": lambda lr: {0.5: 1.0, 0.25: 2.0, 0.125: 3.0}[lr],
    "a set": lambda lr: 2.0 if lr in {0.5, 0.3} else 3.0,
    "a list": lambda lr: [0.5, 0.25, 0.125].index(lr) + 1.0,
    "hash": lambda lr: float(hash(lr) % 7 + 1),
    "join": lambda lr: float("".join([str(lr), "1"])),
    "round": lambda lr: round(lr, 1) + 1,
    "as_integer_ratio": lambda lr: float(lr.as_integer_ratio()[1]),
    "match": lambda lr: 1.0 if lr.hex().endswith("-1") else 2.0,
}.items():
    CASES[f"a float argument read by {_name}"] = float_argument(_read)


def rebound(name, make, f, change):
    """A case of an object of its own that f reads and change changes."""

    def case(jit):
        owner = make()
        run = jit(lambda: f(owner))
        return run, lambda k: change(owner, k)

    CASES[name] = case


class Scaled(nn.Module):
    factor = 2.0

    def __init__(self):
        self.scale = 2.0
        self.layer = nn.Linear(3, 3, bias=False)
        self.layer.weight.data = ad.tensor(np.eye(3, dtype="f"))
        self.blocks = {"a": [1.0]}
        self.extra = [ad.tensor(1.0)]
        self.table = np.ones(3, "f")

    def forward(self, x):
        y = self.layer(x) * self.scale * self.factor * self.extra[0] * self.helper()
        return y * sum(self.blocks["a"]) * ad.asarray(self.table)

    def helper(self):
        return 1.0


class Switched(Scaled):
    pass


def other_method(k):
    return lambda self: 10.0 + k


MODULE = {
    "vars(model).update": lambda m, k: vars(m).update(scale=5.0 + k),
    "vars(model) of a default": lambda m, k: put(vars(m), "factor", 5.0 + k),
    "vars(model) of a method": lambda m, k: put(vars(m), "helper", lambda: 3.0 + k),
    "vars(model) of a layer": lambda m, k: put(vars(m), "layer", nn.ReLU()),
    "model.__dict__": lambda m, k: put(m.__dict__, "scale", 7.0 + k),
    "an attribute": lambda m, k: setattr(m, "scale", 3.0 + k),
    "an attribute over a default": lambda m, k: setattr(m, "factor", 3.0 + k),
    "a list in a dict": lambda m, k: m.blocks["a"].append(2.0 + k),
    "a tensor in a list": lambda m, k: put(m.extra, 0, ad.tensor(4.0 + k)),
    "the value of a tensor in a list": lambda m, k: put(m.extra, 0, m.extra[0].__iadd__(1.0)),
    "an array": lambda m, k: m.table.__imul__(2.0),
    "a layer": lambda m, k: setattr(m, "layer", [nn.Tanh(), nn.Sigmoid(), nn.ReLU()][k]),
    "a weight": lambda m, k: setattr(m.layer.weight, "data", m.layer.weight + 1.0),
    "a weight replaced": lambda m, k: setattr(m.layer, "weight", ad.variable(np.ones((3, 3), "f") * (k + 2))),
    "vars of a layer": lambda m, k: put(vars(m.layer), "weight", ad.variable(np.ones((3, 3), "f") * (k + 2))),
    "a method of the object": lambda m, k: setattr(m, "helper", lambda: 3.0 + k),
    "a hook": lambda m, k: m.register_forward_hook(lambda module, args, y: y * (k + 2.0)),
    "a hook of a layer": lambda m, k: m.layer.register_forward_hook(lambda module, args, y: y * (k + 2.0)),
}
for _name, _change in MODULE.items():
    rebound(f"module: {_name}", Scaled, lambda m: m(X), _change)


def of_a_class(change):
    """A case of a class of its own."""

    def case(jit):
        class Base(Scaled):
            pass

        class Own(Base):
            factor = 2.0

            def helper(self):
                return 1.5

        own = Own()
        return jit(lambda: own(X)), lambda k: change(own, Own, Base, k)

    return case


for _name, _change in {
    "a default": lambda m, C, B, k: setattr(C, "factor", 3.0 + k),
    "a default taken away": lambda m, C, B, k: delattr(C, "factor") if k == 0 else None,
    "a method": lambda m, C, B, k: setattr(C, "helper", other_method(k)),
    "a method taken away": lambda m, C, B, k: delattr(C, "helper") if k == 0 else None,
    "an inherited method": lambda m, C, B, k: setattr(B, "forward", lambda self, x: x * (k + 5.0)),
    "a method in between": lambda m, C, B, k: setattr(C, "forward", lambda self, x: x * (k + 5.0)),
    "the class of the object": lambda m, C, B, k: setattr(m, "__class__", Switched),
    "the code of a method": lambda m, C, B, k: setattr(C.helper, "__code__", (lambda self: 7.0).__code__),
}.items():
    CASES[f"class of a module: {_name}"] = of_a_class(_change)


class Trainer:
    """All about `self`, through a bound method."""

    kind = 1.0

    def __init__(self, jit):
        self.cfg = types.SimpleNamespace(lr=0.5, deep=Config(2.0))
        self.items = [1.0]
        self.model = Scaled()
        self.step = jit(self._step)
        self.count = 0

    def _step(self):
        return self.model(X) * self.cfg.lr * self.cfg.deep.value * self.items[0] * self.kind * self.rate

    @property
    def rate(self):
        return self.cfg.deep.other * 1.0


for _name, _change in {
    "cfg.lr": lambda t, k: setattr(t.cfg, "lr", 0.25 + k),
    "cfg.deep.value": lambda t, k: setattr(t.cfg.deep, "value", 5.0 + k),
    "what a property reads": lambda t, k: setattr(t.cfg.deep, "other", 5 + k),
    "cfg replaced": lambda t, k: setattr(t, "cfg", types.SimpleNamespace(lr=1.5 + k, deep=Config(1.0))),
    "a list": lambda t, k: put(t.items, 0, 9.0 + k),
    "a list replaced": lambda t, k: setattr(t, "items", [4.0 + k]),
    "the model": lambda t, k: setattr(t, "model", lambda x: x * (2.0 + k)),
    "the class": lambda t, k: setattr(t, "kind", 3.0 + k),
    "vars": lambda t, k: vars(t).update(items=[8.0 + k]),
    "what is not read": lambda t, k: setattr(t, "count", k + 1),
}.items():

    def _trainer(jit, change=_change):
        trainer = Trainer(jit)
        return trainer.step, lambda k: change(trainer, k)

    CASES[f"bound method: {_name}"] = _trainer


# Names ------------------------------------------------------------------------------------------------------------------------


def globals_of(source, change):
    """A case of code with globals of its own; `f` is its function."""

    def case(jit):
        names = {"X": X, "np": np, "ad": ad}
        exec(source, names)
        return jit(names["f"]), lambda k: change(names, k)

    return case


COMPUTED = "class B:\n def __getattr__(self, name): return float(len(name))\n"


def replacing(part, other):
    return lambda n, k: setattr(n["h"], part, other(k))


def module_that_computes(jit):
    module = types.ModuleType("module_that_computes")
    exec("def __getattr__(name):\n if name != 'later': raise AttributeError(name)\n return 1.0", module.__dict__)
    return jit(lambda: X * module.later), lambda k: setattr(module, "later", 2.0 + k)


def module_without_file(jit):
    """As a program makes one and runs code in it."""
    module = sys.modules["module_without_file"] = types.ModuleType("module_without_file")
    exec("class A:\n a = 1.0\n def value(self): return self.a\nclass B(A): pass\nb = B()", module.__dict__)
    return jit(lambda: X * module.b.value()), lambda k: setattr(module.A if k else module.B, "a", 2.0 + k)


CASES |= {
    "a global": globals_of("a = 1.0\ndef f(): return X * a", lambda n, k: put(n, "a", 2.0 + k)),
    "a global of a helper": globals_of("a = 1.0\ndef h(): return a\ndef f(): return X * h()", lambda n, k: put(n, "a", 2.0 + k)),
    "a helper": globals_of(
        "def h(): return 1.0\ndef g(): return h()\ndef f(): return X * g()", lambda n, k: put(n, "h", lambda: 5.0 + k)
    ),
    "the code of a helper": globals_of(
        "def h(): return 1.0\ndef f(): return X * h()", lambda n, k: setattr(n["h"], "__code__", (lambda: 9.0).__code__)
    ),
    "the default of a helper": globals_of(
        "def h(a=1.0): return a\ndef f(): return X * h()", lambda n, k: setattr(n["h"], "__defaults__", (2.0 + k,))
    ),
    "the keyword default of a helper": globals_of(
        "def h(*, a=1.0): return a\ndef f(): return X * h()", lambda n, k: setattr(n["h"], "__kwdefaults__", {"a": 2.0 + k})
    ),
    "a built-in that is hidden": globals_of("def f(): return X * len('abc')", lambda n, k: put(n, "len", lambda x: 7.0 + k)),
    "a name that comes later": globals_of(
        "def f():\n try: return X * later\n except NameError: return X", lambda n, k: put(n, "later", 5.0 + k)
    ),
    "an attribute that comes later": globals_of(
        "class C: pass\nc = C()\ndef f(): return X * getattr(c, 'later', 1.0)", lambda n, k: setattr(n["c"], "later", 5.0 + k)
    ),
    "hasattr": globals_of(
        "class C: pass\nc = C()\ndef f(): return X * 2 if hasattr(c, 'flag') else X",
        lambda n, k: setattr(n["c"], "flag", True) if k == 0 else delattr(n["c"], "flag") if k == 1 else None,
    ),
    "a missing attribute": globals_of(
        "class C: pass\nc = C()\ndef f():\n try: return X * c.later\n except AttributeError: return X",
        lambda n, k: setattr(n["c"], "later", 5.0 + k),
    ),
    "an attribute that code gave before": globals_of(
        f"{COMPUTED}class C(B): pass\nc = C()\ndef f(): return X * c.later",
        lambda n, k: setattr(n["c"], "later", 7.0) if k == 0 else delattr(n["c"], "later"),
    ),
    "an attribute of a class that its objects' code gave before": globals_of(
        f"{COMPUTED}class C(B): pass\nc = C()\ndef f(): return X * c.later", lambda n, k: setattr(n["CBB"[k]], "later", 7.0 + k)
    ),
    "an attribute of a class that its class gave before": globals_of(
        f"{COMPUTED}class A(type, B): pass\nclass C(metaclass=A): pass\ndef f(): return X * C.later",
        lambda n, k: setattr(n["C"], "later", 7.0 + k),
    ),
    "an attribute of a module that its code gave before": module_that_computes,
    "the bases of a class": globals_of(
        "class A: pass\nclass B: pass\nclass C(A): pass\ndef f(): return X * (2 if issubclass(C, B) else 3)",
        lambda n, k: setattr(n["C"], "__bases__", (n["A" if k % 2 else "B"],)),
    ),
    "the classes that are derived from one": globals_of(
        "class M(type): pass\nclass C(metaclass=M): pass\nkept = []\ndef f(): return X * len(C.__subclasses__())",
        lambda n, k: n["kept"].append(n["M"]("D", (n["C"],), {})),
    ),
    "the name of a class": globals_of(
        "class C: pass\ndef f(): return X * len(C.__name__)", lambda n, k: setattr(n["C"], "__name__", "C" * (k + 2))
    ),
    **{
        f"{part} of a function that isn't called": globals_of(
            f"def h(a=1.0, *, b=2.0) -> int:\n 'text'\ndef f(): return X * {read}", replacing(part, other)
        )
        for part, read, other in [
            ("__defaults__", "h.__defaults__[0]", lambda k: (2.0 + k,)),
            ("__kwdefaults__", "h.__kwdefaults__['b']", lambda k: {"b": 3.0 + k}),
            ("__name__", "len(h.__name__)", lambda k: "h" * (k + 2)),
            ("__doc__", "len(h.__doc__)", lambda k: "text" * (k + 2)),
            ("__code__", "h.__code__.co_argcount", lambda k: (lambda a, b, c: a).__code__),
            ("__annotations__", "len(h.__annotations__)", lambda k: dict.fromkeys(range(k + 2))),
        ]
    },
    "a class of a module that has no file": module_without_file,
    "a method under another name": globals_of(
        "class C:\n def a(self): return 1.0\n b = a\nc = C()\ndef f(): return X * c.b()",
        lambda n, k: setattr(n["C"], "b", lambda self: 2.0 + k),
    ),
    "an operator that is another one too": globals_of(
        "class C:\n def __add__(self, x): return x * 2.0\n __radd__ = __add__\nc = C()\ndef f(): return X + (1.0 + c)",
        lambda n, k: setattr(n["C"], "__radd__", lambda self, x: 3.0 + k),
    ),
    "a method that is partial": globals_of(
        "import functools\nclass C:\n def a(self, x): return x\n b = functools.partialmethod(a, 2.0)\n"
        "c = C()\ndef f(): return X * c.b()",
        lambda n, k: setattr(n["C"], "b", lambda self: 3.0 + k),
    ),
    "a method that is only asked for": globals_of(
        "class C:\n def a(self): pass\ndef f(): return X if C.a is None else X * 2",
        lambda n, k: setattr(n["C"], "a", None if k % 2 == 0 else len),
    ),
    "what a property is made of": globals_of(
        "class C:\n @property\n def a(self): pass\ndef f(): return X if C.a.fset is None else X * 2",
        lambda n, k: setattr(n["C"], "a", n["C"].a.setter((None, len)[k % 2 == 0])),
    ),
    "what is registered with an abstract class": globals_of(
        "import abc\nclass A(abc.ABC): pass\nclass B(A): pass\nclass C: pass\nclass D: pass\nc, d = C(), D()\n"
        "def f(): return X * (2 if isinstance(c, A) else 3) * (2 if issubclass(D, A) else 3)",
        lambda n, k: n["BA"[k % 2]].register(n["CD"[k % 2]]),
    ),
    "what a function does for a class": globals_of(
        "import functools\n@functools.singledispatch\ndef h(a): return 1.0\ndef f(): return X.data * h(1)",
        lambda n, k: n["h"].register(int, lambda a: 2.0 + k),
    ),
    "a class attribute by its class": globals_of(
        "class C: a = 1.0\ndef f(): return X * C.a", lambda n, k: setattr(n["C"], "a", 2.0 + k)
    ),
    "an attribute hides that of a class": globals_of(
        "class C: a = 1.0\nc = C()\ndef f(): return X * c.a", lambda n, k: setattr(n["c"], "a", 2.0 + k)
    ),
    "a static method": globals_of(
        "class C:\n @staticmethod\n def a(): return 1.0\ndef f(): return X * C.a()",
        lambda n, k: setattr(n["C"], "a", staticmethod(lambda: 2.0 + k)),
    ),
    "a class method": globals_of(
        "class C:\n b = 1.0\n @classmethod\n def a(cls): return cls.b\ndef f(): return X * C.a()",
        lambda n, k: setattr(n["C"], "b", 2.0 + k),
    ),
    "a property": globals_of(
        "class C:\n @property\n def a(self): return 1.0\nc = C()\ndef f(): return X * c.a",
        lambda n, k: setattr(n["C"], "a", property(lambda self: 2.0 + k)),
    ),
    "an operator of a class": globals_of(
        "class C:\n def __mul__(self, x): return 1.0\nc = C()\ndef f(): return X * (c * 1)",
        lambda n, k: setattr(n["C"], "__mul__", lambda self, x: 2.0 + k),
    ),
    "the length of an object": globals_of(
        "class C:\n n = 1\n def __len__(self): return self.n\nc = C()\ndef f(): return X * len(c)",
        lambda n, k: setattr(n["c"], "n", 2 + k),
    ),
    "a dictionary of functions": globals_of(
        "table = {'a': lambda: 1.0}\ndef f(): return X * table['a']()", lambda n, k: put(n["table"], "a", lambda: 5.0 + k)
    ),
    "the text of an object": globals_of(
        "class C:\n def __init__(self): self.a = 1\n def __repr__(self): return str(self.a)\nc = C()\n"
        "def f(): return X * float(f'{c}')",
        lambda n, k: setattr(n["c"], "a", 2 + k),
    ),
    "the text of a dataclass": globals_of(
        "from dataclasses import dataclass\n@dataclass\nclass C:\n a: int = 1\nc = C()\ndef f(): return X * len(repr(c))",
        lambda n, k: setattr(n["c"], "a", 10 ** (k + 1)),
    ),
    "the fields of a dataclass": globals_of(
        "from dataclasses import dataclass, asdict\n@dataclass\nclass C:\n a: int = 1\nc = C()\n"
        "def f(): return X * asdict(c)['a']",
        lambda n, k: setattr(n["c"], "a", 5 + k),
    ),
    "a copy of an object": globals_of(
        "import copy\nclass C: pass\nc = C()\nc.a = 1.0\ndef f():\n d = copy.deepcopy(c)\n return X * sum(vars(d).values())",
        lambda n, k: setattr(n["c"], "a", 5.0 + k),
    ),
    "a value that a thread keeps": globals_of(
        "import threading\nc = threading.local()\nc.a = 1.0\ndef f(): return X * c.a",
        lambda n, k: setattr(n["c"], "a", 5.0 + k),
    ),
    "an array of another library": globals_of(
        "class C:\n def __init__(self): self._v = np.ones(3)\n def __array__(self, dtype=None, copy=None): return self._v\n"
        "c = C()\ndef f(): return X * np.asarray(c)",
        lambda n, k: put(n["c"]._v, 0, 5.0 + k),
    ),
    "a property that is kept": globals_of(
        "from functools import cached_property\nclass C:\n a = 1.0\n @cached_property\n def b(self): return self.a * 2\n"
        "c = C()\ndef f(): return X * c.b",
        lambda n, k: (setattr(n["c"], "a", 5.0 + k), vars(n["c"]).pop("b") if k else None),
    ),
    "a property that a module keeps": globals_of(
        "from functools import cached_property\nclass C(ad.nn.Module):\n a = 1.0\n @cached_property\n"
        " def b(self): return self.a * 2\n"
        "c = C()\ndef f(): return X * c.b",
        lambda n, k: (setattr(n["c"], "a", 5.0 + k), vars(n["c"]).pop("b") if k else None),
    ),
    "a dictionary whose entries are attributes": globals_of(
        "class C(dict):\n __getattr__ = dict.__getitem__\nc = C(a=1.0)\ndef f(): return X * c.a",
        lambda n, k: put(n["c"], "a", 5.0 + k),
    ),
    "a class with a way of its own to read": globals_of(
        "class C:\n a = 1.0\n def __getattribute__(self, n): return object.__getattribute__(self, n)\n"
        "c = C()\nc.a = 2.0\ndef f(): return X * c.a",
        lambda n, k: setattr(n["c"], "a", 5.0 + k),
    ),
    "what a class makes up": globals_of(
        "class C:\n d = {'a': 1.0}\n def __getattr__(self, n): return self.d[n]\nc = C()\ndef f(): return X * c.a",
        lambda n, k: put(n["c"].d, "a", 5.0 + k),
    ),
    "a value of a NumPy array": globals_of(
        "A = np.ones((3, 3))\ndef f(): return A @ X.astype('float64')", lambda n, k: put(n["A"], 0, 5.0 + k)
    ),
    "a row of a NumPy array": globals_of("A = np.ones((3, 3))\ndef f(): return X * A[1]", lambda n, k: put(n["A"], 1, 5.0 + k)),
    "a mean of a NumPy array": globals_of("A = np.ones(30)\ndef f(): return X * A.mean()", lambda n, k: put(n["A"], 1, 50.0 + k)),
    "a large NumPy array": globals_of("A = np.ones(100_000)\ndef f(): return X * A.mean()", lambda n, k: put(n["A"], 1, 5e5 + k)),
    "a large NumPy array that can be written to again": globals_of(
        "A = np.ones(100_000)\ndef f(): return X * A.mean()",
        lambda n, k: (n["A"].setflags(write=True), put(n["A"], 1, 5e5 + k)),
    ),
    "the base of a large NumPy array": globals_of(
        "B = np.ones(100_000)\nA = B[::2]\ndef f(): return X * A.mean()", lambda n, k: put(n["B"], 2, 5e5 + k)
    ),
    "a large NumPy array replaced": globals_of(
        "A = np.ones(100_000)\ndef f(): return X * A.mean()", lambda n, k: put(n, "A", np.full(100_000, 2.0 + k))
    ),
}  # fmt: skip


CASES |= {
    "mappingproxy": globals_of(
        "from types import MappingProxyType\nd={'a':1.0}\np=MappingProxyType(d)\ndef f(): return X*p['a']",
        lambda n, k: put(n["d"], "a", 2.0 + k),
    ),
    "chainmap": globals_of(
        "from collections import ChainMap\nd={'a':1.0}\np=ChainMap({},d)\ndef f(): return X*p['a']",
        lambda n, k: put(n["d"], "a", 2.0 + k),
    ),
    "dict view": globals_of(
        "d={'a':1.0}\np=d.values()\ndef f(): return X*sum(p)",
        lambda n, k: put(n["d"], "a", 2.0 + k),
    ),
    "weakref": globals_of(
        "import weakref\nclass C: a=1.0\nc=C()\nr=weakref.ref(c)\ndef f(): return X*r().a",
        lambda n, k: setattr(n["c"], "a", 2.0 + k),
    ),
    "attrgetter": globals_of(
        "from operator import attrgetter\nclass C: pass\nc=C()\nc.a=1.0\nh=attrgetter('a')\ndef f(): return X*h(c)",
        lambda n, k: setattr(n["c"], "a", 2.0 + k),
    ),
    "itemgetter": globals_of(
        "from operator import itemgetter\nc={'a':1.0}\nh=itemgetter('a')\ndef f(): return X*h(c)",
        lambda n, k: put(n["c"], "a", 2.0 + k),
    ),
    "closure of helper": globals_of(
        "def make():\n n=[1.0]\n def h(): return n[0]\n return h,n\nh,n=make()\ndef f(): return X*h()",
        lambda n, k: put(n["n"], 0, 2.0 + k),
    ),
    "singledispatch": globals_of(
        "from functools import singledispatch\n@singledispatch\ndef h(x): return 1.0\ndef f(): return X*h(3)",
        lambda n, k: n["h"].register(int, lambda x: 5.0 + k),
    ),
    "descriptor": globals_of(
        "class D:\n"
        " def __init__(self): self.v={}\n"
        " def __get__(self,o,t=None): return self.v.get(id(o),1.0)\n"
        " def __set__(self,o,v): self.v[id(o)]=v\n"
        "class C: a=D()\n"
        "c=C()\n"
        "def f(): return X*c.a",
        lambda n, k: setattr(n["c"], "a", 2.0 + k),
    ),
    "mapping class": globals_of(
        "from collections.abc import Mapping\n"
        "class M(Mapping):\n"
        " def __init__(self): self._d={'a':1.0}\n"
        " def __getitem__(self,k): return self._d[k]\n"
        " def __iter__(self): return iter(self._d)\n"
        " def __len__(self): return len(self._d)\n"
        "m=M()\n"
        "def f(): return X*m['a']*len(m)",
        lambda n, k: put(n["m"]._d, "a", 2.0 + k),
    ),
    "masked": globals_of(
        "m=np.ma.array([1.0,2.0,3.0],mask=[0,0,0])\ndef f(): return X*float(m.sum())",
        lambda n, k: put(n["m"], k, np.ma.masked),
    ),
    "matrix": globals_of(
        "m=np.asmatrix(np.eye(3))\ndef f(): return X*float(m.sum())",
        lambda n, k: put(n["m"], (0, 1), 5.0 + k),
    ),
    "recarray": globals_of(
        "m=np.rec.array([(1.0,2),(3.0,4)],dtype=[('a','f8'),('b','i4')])\ndef f(): return X*float(m.a.sum())",
        lambda n, k: put(n["m"].a, 0, 5.0 + k),
    ),
    "sparse": globals_of(
        "import scipy.sparse as sp\nm=sp.csr_array(np.eye(3))\ndef f(): return X*float(m.sum())",
        lambda n, k: put(n["m"].data, 0, 5.0 + k),
    ),
    "metaclass attr": globals_of(
        "class M(type): a=1.0\nclass C(metaclass=M): pass\ndef f(): return X*C.a",
        lambda n, k: setattr(n["M"], "a", 2.0 + k),
    ),
    "metaclass prop": globals_of(
        "class M(type):\n b=1.0\n @property\n def a(c): return c.b\nclass C(metaclass=M): pass\ndef f(): return X*C.a",
        lambda n, k: setattr(n["M"], "b", 2.0 + k),
    ),
    "module getattr": globals_of(
        "import types\n"
        "m=types.ModuleType('mm')\n"
        "m.__file__=__file__ if '__file__' in globals() else '/home/x.py'\n"
        "d={'a':1.0}\n"
        "m.__getattr__=lambda n: d[n]\n"
        "def f(): return X*m.a",
        lambda n, k: put(n["d"], "a", 2.0 + k),
    ),
    "ctx manager": globals_of(
        "from contextlib import contextmanager\n"
        "s={'a':1.0}\n"
        "@contextmanager\n"
        "def over(v):\n"
        " old=s['a']; s['a']=v\n"
        " try: yield\n"
        " finally: s['a']=old\n"
        "def f():\n"
        " with over(3.0): return X*s['a']",
        lambda n, k: put(n["s"], "a", 2.0 + k),
    ),
    "ctx manager 2": globals_of(
        "from contextlib import contextmanager\n"
        "s={'a':1.0}\n"
        "v=[3.0]\n"
        "@contextmanager\n"
        "def over(v):\n"
        " old=s['a']; s['a']=v\n"
        " try: yield\n"
        " finally: s['a']=old\n"
        "def f():\n"
        " with over(v[0]): return X*s['a']",
        lambda n, k: put(n["v"], 0, 2.0 + k),
    ),
    "type()": globals_of(
        "class A: a=1.0\nclass B: a=5.0\nc=A()\ndef f(): return X*type(c).a",
        lambda n, k: setattr(n["c"], "__class__", n["B"]),
    ),
    "isinstance": globals_of(
        "class A: pass\nclass B: pass\nc=A()\ndef f(): return X if isinstance(c,n_B()) else X*2\ndef n_B(): return B",
        lambda n, k: setattr(n["c"], "__class__", n["B"]),
    ),
    "dict of objs": globals_of(
        "class A:\n"
        " def __init__(s,v): s.v=v\n"
        "d={'x':A(1.0),'y':A(2.0)}\n"
        "def f(): return X*sum(o.v for o in d.values())",
        lambda n, k: setattr(n["d"]["y"], "v", 3.0 + k),
    ),
    "linked list": globals_of(
        "class N:\n"
        " def __init__(s,v,n=None): s.v=v; s.n=n\n"
        "h=N(1.0,N(2.0,N(3.0)))\n"
        "def f():\n"
        " t,p=0.0,h\n"
        " while p is not None: t,p=t+p.v,p.n\n"
        " return X*t",
        lambda n, k: setattr(n["h"].n.n, "v", 5.0 + k),
    ),
    "cyclic": globals_of(
        "class N: pass\na=N();b=N();a.o=b;b.o=a;b.v=1.0\ndef f(): return X*a.o.o.o.v",
        lambda n, k: setattr(n["b"], "v", 5.0 + k),
    ),
    "frozen dataclass": globals_of(
        "from dataclasses import dataclass\n"
        "@dataclass(frozen=True)\n"
        "class C:\n"
        " a: list\n"
        "c=C([1.0])\n"
        "def f(): return X*c.a[0]",
        lambda n, k: put(n["c"].a, 0, 3.0 + k),
    ),
    "object.__setattr__": globals_of(
        "from dataclasses import dataclass\n"
        "@dataclass(frozen=True)\n"
        "class C:\n"
        " a: float=1.0\n"
        "c=C()\n"
        "def f(): return X*c.a",
        lambda n, k: object.__setattr__(n["c"], "a", 3.0 + k),
    ),
    "int enum flag": globals_of(
        "import enum\nclass E(enum.IntFlag):\n A=1;B=2\ns=[E.A]\ndef f(): return X*(2 if E.B in s[0] else 1)",
        lambda n, k: put(n["s"], 0, n["E"].A | n["E"].B if k % 2 == 0 else n["E"].A),
    ),
    "str.format attr": globals_of(
        "class C: pass\nc=C()\nc.a=1.0\ndef f(): return X*float('{0.a}'.format(c))",
        lambda n, k: setattr(n["c"], "a", 3.0 + k),
    ),
    "globals()": globals_of(
        "a=1.0\ndef f(): return X*globals()['a']",
        lambda n, k: put(n, "a", 3.0 + k),
    ),
    "len(d)": globals_of(
        "d={i:i for i in range(3)}\ndef f(): return X*len(d)",
        lambda n, k: n["d"].pop(k),
    ),
    "in": globals_of(
        "d={1,2}\ndef f(): return X*(5 in d)",
        lambda n, k: n["d"].add(5),
    ),
    "array of dtype view": globals_of(
        "a=np.zeros(3,'i4')\nb=a.view('f4')\ndef f(): return X*float(b.sum())",
        lambda n, k: put(n["a"], 0, 1065353216 + k * 1000000),
    ),
    "np scalar": globals_of(
        "a=np.float64(2.0)\ndef f(): return X*a",
        lambda n, k: put(n, "a", np.float64(3.0 + k)),
    ),
    "np 0-d": globals_of(
        "a=np.array(2.0)\ndef f(): return X*a",
        lambda n, k: put(n["a"], (), 3.0 + k),
    ),
    "reshaped in place": globals_of(
        "a=np.arange(3.0)\ndef f(): return X*float(a.ndim)",
        lambda n, k: setattr(n["a"], "shape", (3, 1) if k % 2 == 0 else (3,)),
    ),
    "class list attr": globals_of(
        "class C: l=[1.0]\nc=C()\ndef f(): return X*c.l[0]",
        lambda n, k: put(n["C"].l, 0, 3.0 + k),
    ),
    "func in list": globals_of(
        "l=[lambda x: x]\ndef f(): return l[0](X)",
        lambda n, k: put(n["l"], 0, lambda x: x * (2.0 + k)),
    ),
    "partial kw": globals_of(
        "from functools import partial\np=partial(lambda x,s: x*s, s=2.0)\ndef f(): return p(X)",
        lambda n, k: put(n["p"].keywords, "s", 3.0 + k),
    ),
    "vmap closure": globals_of(
        "s=[2.0]\nh=ad.vmap(lambda x: x*s[0])\ndef f(): return h(X)",
        lambda n, k: put(n["s"], 0, 3.0 + k),
    ),
    "custom_vjp": globals_of(
        "s=[2.0]\n"
        "@ad.custom_vjp\n"
        "def h(x): return x*s[0]\n"
        "h.def_vjp(lambda x:(x*s[0],None), lambda r,c:(c*s[0],))\n"
        "def f(): return ad.grad(lambda x: h(x).sum())(X)",
        lambda n, k: put(n["s"], 0, 3.0 + k),
    ),
    "Function": globals_of(
        "s=[2.0]\n"
        "class F(ad.Function):\n"
        " @staticmethod\n"
        " def forward(ctx,x): return x*s[0]\n"
        " @staticmethod\n"
        " def backward(ctx,g): return g*s[0]\n"
        "def f(): return F.apply(X)",
        lambda n, k: put(n["s"], 0, 3.0 + k),
    ),
    "scan body": globals_of(
        "s=[2.0]\ndef f(): return ad.scan(lambda c,x:(c+x*s[0],c), ad.tensor(0.0), X)[1]",
        lambda n, k: put(n["s"], 0, 3.0 + k),
    ),
    "cond": globals_of(
        "s=[2.0]\ndef f(): return ad.cond(X[0]>0, lambda x: x*s[0], lambda x: x, X)",
        lambda n, k: put(n["s"], 0, 3.0 + k),
    ),
    "checkpoint": globals_of(
        "s=[2.0]\nh=ad.checkpoint(lambda x:x*s[0])\ndef f(): return h(X)",
        lambda n, k: put(n["s"], 0, 3.0 + k),
    ),
    "tensor attr": globals_of(
        "class C: pass\nc=C()\nc.w=ad.tensor(2.0)\ndef f(): return X*c.w",
        lambda n, k: setattr(n["c"], "w", ad.tensor(3.0 + k)),
    ),
    "tensor in tuple in dict": globals_of(
        "d={'p':(ad.tensor(2.0),)}\ndef f(): return X*d['p'][0]",
        lambda n, k: put(n["d"], "p", (ad.tensor(3.0 + k),)),
    ),
    "tensor set": globals_of(
        "w=ad.tensor([1.0,2.0,3.0])\ndef f(): return X*w",
        lambda n, k: put(n["w"], 0, 5.0 + k),
    ),
}


def importing(source):
    """A case of a function that imports, when it runs, a module of the user's."""

    def case(jit):
        config = types.ModuleType(f"users_config_{next(NUMBERS)}")
        config.__file__, config.a = __file__, 1.0
        sys.modules[config.__name__] = config
        names = {"X": X}
        exec(f"def f():\n {source.format(config.__name__)}", names)
        return jit(names["f"]), lambda k: setattr(config, "a", 5.0 + k)

    return case


NUMBERS = itertools.count()
CASES["an import inside"] = importing("import {0}\n return X * {0}.a")
CASES["an import of a name inside"] = importing("from {0} import a\n return X * a")

# Changes by the function itself ---------------------------------------------------------------------------------------------

INSIDE = {
    "append": ("state = []", "state.append(1.0)\n return X * len(state)"),
    "item of a dict": ("state = {'n': 0}", "state['n'] += 1\n return X * state['n']"),
    "item of a list": ("state = [0]", "state[0] += 1\n return X * state[0]"),
    "attribute": ("class C: n = 0\nstate = C()", "state.n += 1\n return X * state.n"),
    "attribute of a class": ("class C: n = 0", "C.n += 1\n return X * C.n"),
    "attribute by setattr": ("class C: n = 0\nstate = C()", "setattr(state, 'n', state.n + 1)\n return X * state.n"),
    "attribute by vars": ("class C: pass\nstate = C()\nstate.n = 0", "vars(state)['n'] += 1\n return X * state.n"),
    "global": ("n = 0", "global n\n n += 1\n return X * n"),
    "pop": ("state = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]", "return X * state.pop()"),
    "update": ("state = {}", "state.update({len(state): 1})\n return X * len(state)"),
    "add": ("state = set()", "state.add(len(state))\n return X * len(state)"),
    "array": ("state = np.zeros(1)", "state[:] += 1\n return X * state[0]"),
    "large array": ("state = np.zeros(100_000)", "state[0] += 1\n return X * state[0]"),
    "deque": ("from collections import deque\nstate = deque([1.0, 2.0])", "state.rotate()\n return X * state[0]"),
    "defaultdict": (
        "from collections import defaultdict\nstate = defaultdict(int)", "state['a'] += 1\n return X * state['a']"),
    "function": ("", "f.n = getattr(f, 'n', 0) + 1\n return X * f.n"),
    "default": ("", "g()\n return X * g()"),
    "helper": ("state = []\ndef h(s): s.append(1.0)", "h(state)\n return X * len(state)"),
    "slots": ("class C:\n __slots__ = ('n',)\nstate = C()\nstate.n = 0", "state.n += 1\n return X * state.n"),
    "dataclass": (
        "from dataclasses import dataclass\n@dataclass\nclass C:\n n: int = 0\nstate = C()", "state.n += 1\n return X * state.n"),
    "heap": ("import heapq\nstate = [5.0, 3.0]", "heapq.heappush(state, 1.0)\n return X * len(state)"),
    "random.random": ("import random\nrandom.seed(0)", "return X * random.random()"),
    "random.gauss": ("import random\nrandom.seed(0)", "return X * random.gauss(0, 1)"),
    "random.Random": ("import random\nstate = random.Random(0)", "return X * state.random()"),
    "from random import": ("from random import random, seed\nseed(0)", "return X * random()"),
    "random.shuffle": ("import random\nrandom.seed(0)", "a = [1, 2, 3, 4, 5]\n random.shuffle(a)\n return X * a[0]"),
    "np.random": ("np.random.seed(0)", "return X * np.random.rand()"),
    "np.random.default_rng": ("state = np.random.default_rng(0)", "return X * state.normal()"),
    "from numpy.random import": ("from numpy.random import rand, seed\nseed(0)", "return X * rand()"),
    "an unseeded generator": ("", "return X * np.random.default_rng().normal()"),
    "a seeded generator": ("", "return X * np.random.default_rng(3).normal()"),
    "a seeded generator of Python": ("import random", "return X * random.Random(3).random()"),
    "time.time": ("import time", "return X * time.time()"),
    "time.perf_counter": ("import time", "return X * time.perf_counter()"),
    "from time import": ("from time import monotonic", "return X * monotonic()"),
    "datetime": ("import datetime", "return X * datetime.datetime.now().microsecond"),
    "uuid": ("import uuid", "return X * (uuid.uuid4().int % 1000)"),
    "os.urandom": ("import os", "return X * os.urandom(8)[0]"),
    "secrets": ("import secrets", "return X * secrets.randbelow(10**6)"),
    "os.environ": ("import os\nos.environ['ADJOINT_TEST'] = '1'", "return X * float(os.environ['ADJOINT_TEST'])"),
    "next": ("state = iter([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0])", "return X * next(state)"),
    "next of a generator": ("state = (float(k) for k in range(99))", "return X * next(state)"),
    "next of count": ("import itertools\nstate = itertools.count()", "return X * next(state)"),
    "next of an object": (
        "class C:\n n = 0\n def __next__(self):\n  self.n += 1\n  return self.n\nstate = C()", "return X * next(state)"),
    "a loop over an iterator": ("state = iter(range(99))", "for k in state:\n  return X * k"),
    "next of its own": ("", "return X * next(iter([2.0]))"),
    "lists of its own": ("", "a = []\n a.append(2.0)\n b = {'a': 1}\n b['a'] += 1\n return X * a[0] * b['a']"),
    "objects of its own": ("class C: n = 1", "c = C()\n c.n += 1\n c.items = [c.n]\n c.items[0] += 1\n return X * c.items[0]"),
    "nonlocal": (
        "def make():\n n = 0\n def h():\n  nonlocal n\n  n += 1\n  return n\n return h\nh = make()", "return X * h()"),
    "a new global": ("", "global m\n m = 3\n return X * m"),
    "a file": ("import io\nstate = io.StringIO('1234567890' * 3)", "return X * float(state.read(1))"),
    "lines of a file": ("import io\nstate = io.StringIO('1\\n2\\n3\\n4\\n' * 30)", "for x in state: return X * float(x)"),
    "the text of a file": ("import io\nstate = io.StringIO('1')", "return X * float(state.getvalue())"),
    "open": ("import os", "with open(os.devnull) as file: return X * len(file.read())"),
}  # fmt: skip


def inside(setup, body):
    def case(jit):
        names = {"X": X, "np": np, "ad": ad}
        exec(f"{setup}\ndef g(n=[0]):\n n[0] += 1\n return n[0]\ndef f():\n {body}", names)
        return jit(names["f"]), lambda k: None

    return case


for _name, (_setup, _body) in INSIDE.items():
    CASES[f"changed inside: {_name}"] = inside(_setup, _body)


# Optimizers -------------------------------------------------------------------------------------------------------------------


def optimizer_case(change, make=lambda p: optim.SGD(p, lr=0.5, momentum=0.5)):
    def case(jit):
        w, v = ad.variable([1.0, 2.0, 3.0]), ad.variable([1.0])
        optimizer = make([{"params": [w]}, {"params": [v], "lr": 0.25}])

        def descend():
            optimizer.zero_grad()
            loss = (w * w).sum() * v.sum()
            loss.backward()
            optimizer.step()
            return w * 1.0, v * 1.0

        step = jit(descend)
        return step, lambda k: change(optimizer, k)

    return case


for _name, _change in {
    "lr": lambda o, k: setattr(o, "lr", 0.1 + k),
    "lr of a group": lambda o, k: put(o.param_groups[0], "lr", 0.1 + k),
    "update": lambda o, k: o.param_groups[0].update(lr=0.1 + k),
    "update of a kind": lambda o, k: o.param_groups[0].update(nesterov=True),
    "ior": lambda o, k: o.param_groups[0].__ior__({"lr": 0.1 + k}),
    "ior of a kind": lambda o, k: o.param_groups[0].__ior__({"nesterov": True}),
    "pop of an entry": lambda o, k: o.param_groups[0].pop("momentum", None),
    "clear": lambda o, k: o.param_groups[0].clear(),
    "delete": lambda o, k: cut(o.param_groups[0], "lr"),
    "setdefault": lambda o, k: o.param_groups[0].setdefault("other", k),
    "pop of a group": lambda o, k: o.param_groups.pop() if k == 0 else None,
    "delete a group": lambda o, k: cut(o.param_groups, 1) if k == 0 else None,
    "groups replaced": lambda o, k: put(o.param_groups, slice(None), o.param_groups[:1]),
    "groups reversed": lambda o, k: (o.param_groups.reverse(), o.state.reverse()),
    "groups assigned": lambda o, k: setattr(o, "param_groups", o.param_groups[:1]),
    "params cleared": lambda o, k: o.param_groups[1]["params"].clear(),
    "params replaced": lambda o, k: put(o.param_groups[1], "params", []),
    "params popped": lambda o, k: o.param_groups[1]["params"].pop() if k == 0 else None,
    "state updated": lambda o, k: o.state[0].update(momentum_buffer=ad.tensor([9.0, 9.0, 9.0])) if o.state[0] else None,
    "state cleared": lambda o, k: o.state[0].clear(),
    "state popped": lambda o, k: o.state[0].popitem() if o.state[0] else None,
    "state replaced": lambda o, k: put(o.state, 0, type(o.state[0])()),
    "state loaded": lambda o, k: o.load_state_dict(o.state_dict()),
}.items():
    CASES[f"optimizer: {_name}"] = optimizer_case(_change)
for _name, _change in {
    "betas": lambda o, k: o.param_groups[0].update(betas=(0.5, 0.9)),
    "a list of betas": lambda o, k: put(o.param_groups[0]["betas"], 0, 0.5),
    "the count of steps": lambda o, k: o.state[0].update(step=0),
    "moments": lambda o, k: o.state[0].update({name: x * 0 for name, x in o.state[0].items() if name != "step"}),
}.items():
    _make = (
        (lambda p: optim.Adam(p, lr=0.5, betas=[0.9, 0.99])) if "list" in _name else (lambda p: optim.Adam(p, lr=0.5))
    )
    CASES[f"Adam: {_name}"] = optimizer_case(_change, _make)


@single
def one_tensor_for_two_arguments(jit):
    f = jit(lambda x, y: x * 2.0 + y)
    state = [(X, X)]
    return lambda: f(*state[0]), lambda k: put(state, 0, [(X, X + 1.0), (X + 2.0,) * 2, (X + 3.0, X)][k % 3])


@single
def a_result_that_is_changed_by_the_caller(jit):
    f = jit(lambda: {"x": X * 2.0, "n": np.zeros(2), "s": {1.0}, "l": [1.0]})

    def call():
        out = f()
        out["n"] += 1
        out["s"].add(5.0)
        out["l"].append(2.0)
        return out["x"] * out["n"][0] * len(out["s"]) * len(out["l"])

    return call, lambda k: None


@single
def the_argument_itself(jit):
    x = np.arange(3.0)
    f = jit(lambda x: (ad.asarray(x), ad.asarray(x) * 1))

    def call():
        out = f(x)
        x[:] += 1.0
        return out

    return call, lambda k: None

"""What the ranks of the tests do: `python programs.py NAME ARGUMENTS`, in every rank. What goes wrong raises."""

import hashlib
import json
import os
import pathlib
import signal
import sys
import time

import numpy as np

import adjoint as ad
from adjoint.distributed.mpi import SharedCounter
from adjoint.plan import plan
from adjoint.train import fit

D = ad.distributed


def say(**values):
    """One line of JSON from rank 0."""
    if D.rank() == 0:
        print(json.dumps(values), flush=True)


def collectives():
    """Values against NumPy, and u·(J t) = (Jᵀ u)·t summed over the ranks, plain, compiled and batched."""
    rank, size = D.rank(), D.world_size()
    engine = D.world().engine
    whole = np.random.default_rng(1).normal(size=(size, size, 4))
    x = ad.tensor(whole[rank])
    expected = {
        "sum": whole.sum(0), "mean": whole.mean(0), "max": whole.max(0), "min": whole.min(0),
    }  # fmt: skip
    for op, value in expected.items():
        np.testing.assert_allclose(D.all_reduce(x, op).numpy(), value, 1e-12)
    np.testing.assert_array_equal(D.all_gather(x).numpy(), whole)
    np.testing.assert_allclose(D.reduce_scatter(x).numpy(), whole[:, rank].sum(0), 1e-12)
    np.testing.assert_array_equal(D.all_to_all(x).numpy(), whole[:, rank])
    for root in range(size):
        np.testing.assert_array_equal(D.broadcast(x, root).numpy(), whole[root])
    assert (
        D.all_reduce(ad.tensor([True, False])).tolist()
        == D.reduce_scatter([ad.tensor([[True, False]] * size)])[0].tolist()
        == [size, 0]
    )
    mean = D.all_reduce({"counts": [ad.tensor([rank, 2])]}, "mean")["counts"][0]
    assert mean.dtype == ad.float32 and mean.tolist() == [(size - 1) / 2, 2]
    try:
        D.all_reduce(ad.tensor([1j]), "max")
    except TypeError as error:
        assert "complex numbers have no order" in str(error)
    else:
        raise AssertionError("complex numbers were put in order")
    found = D.all_reduce({"a": x, "b": [x[0]]})
    np.testing.assert_allclose(found["b"][0].numpy(), whole.sum(0)[0], 1e-12)

    def linear_part(f, x):
        rng = np.random.default_rng(rank)
        t = rng.normal(size=x.shape)
        y, forward = ad.jvp(f, (x,), (ad.tensor(t),))
        u = rng.normal(size=y.shape)
        (backward,) = ad.vjp(f, x)[1](ad.tensor(u))
        sides = engine.sum("sides", np.array([(u * forward.numpy()).sum(), (t * backward.numpy()).sum()]))
        np.testing.assert_allclose(sides[0], sides[1], 1e-9)

    functions = [
        D.all_reduce, D.all_gather, D.reduce_scatter, D.all_to_all, lambda x: D.broadcast(x, size - 1),
        lambda x: D.all_reduce(x, "mean"), lambda x: D.all_reduce(x, "max"), lambda x: D.all_reduce(x**3) ** 2,
        lambda x: ad.vmap(D.all_gather)(x), lambda x: ad.vmap(D.reduce_scatter)(ad.stack([x, 2 * x])),
        lambda x: ad.vmap(D.all_to_all)(ad.stack([x, 2 * x])), lambda x: ad.vmap(D.all_reduce)(x),
    ]  # fmt: skip
    for f in functions:
        linear_part(f, x)
        linear_part(ad.jit(f), x)
        linear_part(ad.grad(lambda x, f=f: (f(x) ** 2).sum()), x)  # the second derivative
    say(passed=len(functions))


def points():
    """send and recv, there and back by the reverse pass."""
    if D.rank() == 0:
        x = ad.variable(np.arange(4.0, dtype="float32"))
        D.send(2 * x, 1).backward()
        np.testing.assert_array_equal(x.grad.numpy(), [0, 8, 16, 24])
    elif D.rank() == 1:
        like = ad.variable(ad.zeros(4, dtype=ad.float32))
        found = D.recv(like, 0)
        np.testing.assert_array_equal(found.numpy(), [0, 2, 4, 6])
        (found**2).sum().backward()
    rows = np.arange(6.0).reshape(3, 2)
    if D.rank() == 0:  # one after another, and compiled
        ad.vmap(lambda x: D.send(x, 1))(ad.tensor(rows)).numpy()
        assert ad.jit(lambda x: D.send(2 * x, 1))(ad.tensor(rows)).item() == 0.0
        x = ad.variable(np.arange(3.0))

        @ad.jit
        def both_ways():
            sent = D.send({"a": [x, 2 * x.sum()], "b": ad.arange(2)}, 1, tag=7)
            sent.backward()
            return sent

        assert both_ways().item() == 0.0
        np.testing.assert_array_equal(x.grad.numpy(), [4.0, 5.0, 6.0])
    elif D.rank() == 1:
        like = ad.zeros((3, 2), dtype=ad.float64)
        np.testing.assert_array_equal(ad.vmap(lambda x: D.recv(x, 0))(like).numpy(), rows)
        np.testing.assert_array_equal(ad.jit(lambda x: D.recv(x, 0) + 1)(like).numpy(), 2 * rows + 1)
        like = {"a": [ad.variable(np.zeros(3)), ad.variable(0.0, dtype="float64")], "b": ad.zeros(2, dtype="int64")}
        found = D.recv(like, 0, tag=7)
        assert [x.tolist() for x in [*found["a"], found["b"]]] == [[0, 1, 2], 6, [0, 1]]
        ((found["a"][0] ** 2).sum() / 2 + 2 * found["a"][1]).backward()
    if D.rank() == 0:  # what waits for the answer comes behind what is sent, wherever the loss has it
        x = ad.variable(np.arange(3000.0))

        @ad.jit
        def deep():
            sent = D.send(x, 1)
            loss = ad.sin(ad.sin(ad.sin(x))).sum() + sent
            sent.backward()
            return loss

        deep()
        np.testing.assert_array_equal(x.grad.numpy(), np.ones(3000))
    elif D.rank() == 1:
        like = ad.variable(np.zeros(3000))
        D.recv(like, 0).sum().backward()
    for wrong in (
        lambda: D.send(rows, 2),
        lambda: D.recv(rows, -1),
        lambda: D.send(rows, 1, tag=-1),
        lambda: D.send({}, 1),
    ):
        try:
            wrong()
            raise AssertionError("it was sent")
        except ValueError as error:
            assert "programs.py" in str(error)
    D.barrier()
    say(passed=True)


def means():
    """Means through memory that the ranks share have the bits of those by messages, turn after turn, several at a time."""
    rank, engine, behind = D.rank(), D.world().engine, D.world().background
    rng = np.random.default_rng(rank)
    for turn in range(5):
        for dtype in ("float32", "float64", "complex64", "float16"):
            shapes = [(7, 3), (), (turn, 5), (70001,)]
            given = [[rng.normal(size=shape).astype(dtype) for shape in shapes] for _ in range(3)]
            numbers = [behind.begin("test", arrays) for arrays in given]
            for number, arrays in zip(numbers, given, strict=True):
                flat = np.concatenate([x.reshape(-1) for x in arrays])
                found = behind.finish(number)
                np.testing.assert_array_equal(found, engine.mean("test", flat))
                whole = engine.gather("test", flat)
                np.testing.assert_allclose(found, whole.mean(axis=0), 1e-2 if dtype == "float16" else 1e-5, 1e-3)
    say(passed=behind.means.available)


def unlike():
    """Ranks that begin with means of different things."""
    behind = D.world().background
    shape = (3, 4) if D.rank() else (4, 3)
    behind.finish(behind.begin("test", [np.ones((2, 6))]))
    behind.finish(behind.begin("test", [np.ones(shape)]))


def early():
    """Which products of matrices come before each of the host calls of a step: eight layers, summed two by two."""
    say(products=products_before_sums(False), clipped=products_before_sums(True))


def products_before_sums(clipped):
    """The same of one step, which clips the norm of what was summed or doesn't."""
    ad.random.seed(0)
    model = ad.nn.Sequential(*[x for _ in range(8) for x in (ad.nn.Linear(64, 64), ad.nn.Tanh())])
    optimizer = ad.optim.SGD(model.parameters(), lr=0.1)
    parallel = D.data_parallel(model, optimizer, bucket_bytes=30000)
    made = []
    built = plan.built

    def noted(*arguments):
        found = built(*arguments)
        made.append([step.op.name for step in found[0].steps])
        return found

    plan.built = noted

    @ad.jit
    def step(x):
        (model(x) ** 2).mean().backward()
        if clipped:
            ad.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()

    for _ in range(3):
        step(ad.tensor(np.random.default_rng(D.rank()).normal(size=(16, 64)).astype("float32")))
    parallel.check()
    plan.built = built
    names = max(made, key=len)
    return [names[:k].count("matmul") for k, name in enumerate(names) if name == "host_call"]


def groups():
    """A group of some ranks works beside another."""
    rank, size = D.rank(), D.world_size()
    evens = D.world().split(range(0, size, 2))
    odds = D.world().split(range(1, size, 2))
    mine = evens if rank % 2 == 0 else odds
    total = D.all_reduce(ad.tensor(float(rank)), group=mine).item()
    assert total == sum(range(rank % 2, size, 2)), total
    assert (evens is None) == bool(rank % 2)
    say(passed=True)


def split_layer():
    """A network whose first layer is split by columns and whose second by rows, against the whole one."""
    rank, size = D.rank(), D.world_size()
    rng = np.random.default_rng(0)
    x, a, b = rng.normal(size=(5, 6)), rng.normal(size=(6, 4 * size)), rng.normal(size=(4 * size, 3))
    part = slice(4 * rank, 4 * rank + 4)

    def split(x, a, b):
        hidden = ad.tanh(D.replicate(x) @ a)
        return (D.all_reduce(hidden @ b, replicated=True) ** 2).sum()

    def whole(x, a, b):
        return ((ad.tanh(x @ a) @ b) ** 2).sum()

    mine = ad.grad(split, argnums=(0, 1, 2))(ad.tensor(x), ad.tensor(a[:, part]), ad.tensor(b[part]))
    for _ in range(2):  # compiled as well
        compiled = ad.jit(ad.grad(split, argnums=(0, 1, 2)))(ad.tensor(x), ad.tensor(a[:, part]), ad.tensor(b[part]))
    theirs = ad.grad(whole, argnums=(0, 1, 2))(ad.tensor(x), ad.tensor(a), ad.tensor(b))
    for found in (mine, compiled):
        np.testing.assert_allclose(found[0].numpy(), theirs[0].numpy(), 1e-9)
        np.testing.assert_allclose(found[1].numpy(), theirs[1].numpy()[:, part], 1e-9)
        np.testing.assert_allclose(found[2].numpy(), theirs[2].numpy()[part], 1e-9)
    say(passed=True)


def train(options):
    """Train a small network; its losses, a hash of its parameters, and the bytes that a step sent."""
    o = {"epochs": 2, "compile": True, "shard_state": False, "norm": False, "dropout": False, **json.loads(options)}
    rng = np.random.default_rng(0)
    x = rng.normal(size=(103, 6)).astype("float32")
    y = (2 * x[:, :1] - x[:, 1:2] * x[:, 2:3]).astype("float32")
    ad.random.seed(7)
    layers = [ad.nn.Linear(6, o.get("width", 16)), ad.nn.Tanh(), ad.nn.Linear(o.get("width", 16), 1)]
    if o["norm"]:
        layers.insert(1, ad.nn.BatchNorm1d(o.get("width", 16)))
    if o["dropout"]:
        layers.insert(2, ad.nn.Dropout(0.2))
    model = ad.nn.Sequential(*layers)
    optimizer = ad.optim.Adam(model.parameters(), lr=0.01)
    parallel = D.data_parallel(
        model, optimizer, bucket_bytes=400, shard_state=o["shard_state"], sync_batch_norm=o["norm"] == "synchronized"
    )
    before = parallel.bytes_sent
    loader = ad.data.DataLoader((x, y), 16, shuffle=True, seed=3)

    everyone = D.world().collect(os.getpid()) if o.get("begun") else []

    class Watched:
        def start(self, *_):
            pass

        def line(self, text):
            pass

        def close(self):
            pass

        def advance(self, loss):
            if everyone:  # rank 0 alone shows progress: whoever kills waits for this
                with open(o["begun"], "w") as file:
                    file.write(f"{json.dumps(everyone)}\n")
            if o.get("slow"):
                time.sleep(o["slow"])

    def loss(outputs, targets):
        die(o.get("dies"))
        return ad.nn.functional.mse_loss(outputs, targets)

    history = fit(
        model, loss, optimizer, loader, epochs=o["epochs"], compile=o["compile"],
        distributed=parallel, progress=Watched(), checkpoint=o.get("checkpoint"), checkpoint_every=o.get("every"),
        resume=o.get("resume", False), log=o.get("log"),
    )  # fmt: skip
    assert (parallel.seconds_waited > 0) == (D.world_size() > 1 and bool(history.losses))
    parallel.check()
    state = {name: value for name, value in model.state_dict().items() if name.endswith(("weight", "bias"))}
    digest = hashlib.sha256(b"".join(x.numpy().tobytes() for x in state.values())).hexdigest()
    held = sum(x.size for entry in optimizer.state for x in entry.values() if isinstance(x, ad.Tensor))
    found = {
        "losses": history.losses, "digest": digest, "held": held, "size": sum(p.size for p in model.parameters()),
        "sent": (parallel.bytes_sent - before) / max(len(history.losses), 1), "resumed_at": history.resumed_at,
    }  # fmt: skip
    say(**found)
    return found


def by_hand():
    """A loop of one's own, neither compiled nor by `fit`: a hash of the parameters, which agree after every step."""
    rank, size = D.rank(), D.world_size()
    ad.random.seed(0)
    model = ad.nn.Sequential(ad.nn.Linear(8, 64), ad.nn.GELU(), ad.nn.Linear(64, 64), ad.nn.Tanh(), ad.nn.Linear(64, 2))
    optimizer = ad.optim.AdamW(model.parameters(), lr=0.01)
    parallel = D.data_parallel(model, optimizer)
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(64, 8)).astype("float32")[rank::size], rng.integers(0, 2, 64)[rank::size]
    for _ in range(60):
        optimizer.zero_grad()
        ad.nn.functional.cross_entropy(model(ad.tensor(x)), ad.tensor(y)).backward()
        optimizer.step()
        parallel.check()
    say(digest=hashlib.sha256(b"".join(p.numpy().tobytes() for p in model.parameters())).hexdigest())
    assert ad.is_deterministic()
    parallel.remove()
    assert not ad.is_deterministic()


def die(plan):
    """Where a plan says so, kill this process, once in a job: [a folder, the rank, at which step]."""
    if plan is None or D.rank() != plan[1]:
        return
    folder = pathlib.Path(plan[0])
    (folder / f"{time.monotonic_ns()}.step").touch()
    if len(list(folder.glob("*.step"))) == plan[2]:
        os.kill(os.getpid(), signal.SIGKILL)


def on_ray(workers, options):
    """`train` in the workers of a Ray of this machine; after a death, from the checkpoint."""
    told = []
    found = D.run_on_ray(train, options, workers=int(workers), again=resumed, say=told.append)
    print(json.dumps({**found[0], "told": told}))


def exchanges_on_ray(workers):
    """Values and derivatives of exchanges in Ray's workers: what goes wrong in one of them raises here."""
    D.run_on_ray(exchanges, workers=int(workers), restarts=0)
    print(json.dumps({"passed": True}))


def exchanges():
    collectives()
    points()
    groups()


def resumed(arguments):
    return (json.dumps({**json.loads(arguments[0]), "resume": True}),)


def differ():
    """Ranks that do different things."""
    x = ad.tensor([1.0, 2.0])
    D.all_reduce(x if D.rank() else ad.tensor([1.0, 2.0, 3.0]))


def only_first():
    """A value that one rank alone asks for."""
    x = ad.variable([1.0, 2.0])
    D.set_timeout(2)
    y = ad.jit(lambda x: D.all_reduce(x))
    if D.rank() == 0:
        y(x).numpy()
    time.sleep(30)


def fail():
    """A rank that raises, in the middle."""
    D.all_reduce(ad.tensor(1.0))
    if D.rank() == 1:
        raise KeyError("the reason")
    D.all_reduce(ad.tensor(1.0))


def out_of_memory():
    """A rank that can't get what it asks for."""
    D.barrier()
    if D.rank() == 1:
        np.ones(1 << 50)
    D.barrier()


def hang():
    """A rank that stops answering."""
    D.set_timeout(3)
    D.barrier()
    if D.rank() == 1:
        os.kill(os.getpid(), signal.SIGSTOP)
    D.barrier()


def hang_in_training():
    """A rank that stops answering between two steps: the other one waits for gradients."""
    D.set_timeout(3)
    model = ad.nn.Linear(300, 300)
    optimizer = ad.optim.SGD(model.parameters(), lr=0.1)
    D.data_parallel(model, optimizer)
    for step in range(9):
        if D.rank() == 1 and step == 6:
            os.kill(os.getpid(), signal.SIGSTOP)
        (model(ad.ones((4, 300))) ** 2).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    model.weight.numpy()


def mapped(count, failing, far=""):
    """map, with an item that always fails and one that fails once; `far`, as if the ranks were on several machines."""
    tries = {}
    if far:
        transport = D.world().engine.transport
        transport.counter = lambda: SharedCounter(transport.mpi, transport.communicator, near=False)

    def f(k):
        tries[k] = tries.get(k, 0) + 1
        if k == int(failing) or (k == 5 and tries[k] == 1):
            raise ValueError(f"no {k}")
        return k * k

    try:
        found = D.map(f, range(int(count)))
        assert found == [k * k for k in range(int(count))]
        say(passed=True)
    except D.MapError as error:
        assert list(error.errors) == [int(failing)] and error.results[5] == 25
        say(failed=list(error.errors))


def mapped_on_ray(folder, fails):
    """map by Ray's workers: an item that fails once, one that kills its worker once, and perhaps one that always fails."""

    def f(k):
        first = pathlib.Path(folder, str(k))
        if k in (5, 11) and not first.exists():
            first.touch()
            if k == 11:
                os.kill(os.getpid(), signal.SIGKILL)
            raise ValueError(f"no {k}")
        if str(k) == fails:
            raise KeyError(f"never {k}")
        return k * k

    try:
        print(json.dumps(D.map(f, range(50), engine="ray") == [k * k for k in range(50)]))
    except D.MapError as error:
        print(json.dumps([list(error.errors), error.results[11], f"never {fails}" in str(error)]))


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])

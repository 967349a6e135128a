"""Random training programs on equal networks in PyTorch and in adjoint.torch: losses, states and gradients after all that is done
to a model between two steps."""

import copy
import io
import random

import numpy as np
import pytest

import adjoint.torch as own

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.oracle

OPTIMIZERS = [
    ("SGD", {"lr": 0.05}),
    ("SGD", {"lr": 0.05, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
    ("Adam", {"lr": 0.01}),
    ("AdamW", {"lr": 0.01, "amsgrad": True}),
    ("RMSprop", {"lr": 0.01, "momentum": 0.5}),
    ("NAdam", {"lr": 0.01}),
    ("RAdam", {"lr": 0.01}),
]
LAYERS = ["linear", "tanh", "norm", "tied", "gelu", "prelu", "weight_norm", "groups"]


def tied(world):
    nn = world.nn

    class Tied(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(4, 4, bias=False), nn.Linear(4, 4)
            self.b.weight = self.a.weight
            self.register_buffer("count", world.zeros(1))

        def forward(self, x):
            if self.training:
                self.count += 1
            return self.b(world.tanh(self.a(x)))

    return Tied()


class Run:
    """A model, its optimizer and what happened to them, in one of the two."""

    def __init__(self, world, layers, optimizer, seed):
        nn = world.nn
        made = {
            "linear": lambda: nn.Linear(4, 4),
            "tanh": nn.Tanh,
            "norm": lambda: nn.LayerNorm(4),
            "gelu": nn.GELU,
            "prelu": nn.PReLU,
            "weight_norm": lambda: nn.utils.parametrizations.weight_norm(nn.Linear(4, 4)),
            "groups": lambda: nn.GroupNorm(2, 4),
            "tied": lambda: tied(world),
        }
        self.world, self.nn, self.kind, self.out, self.shadow, self.handles = world, nn, optimizer, [], {}, []
        self.model = nn.Sequential(*[made[name]() for name in layers]).double()
        generator = np.random.default_rng(seed)
        state = {k: world.tensor(generator.normal(size=tuple(v.shape)) / 2) for k, v in self.model.state_dict().items()}
        self.model.load_state_dict({**state, **{k: state[k.replace(".b.", ".a.")] for k in state if ".b.weight" in k}})
        self.start()

    def start(self):
        name, options = self.kind
        self.optimizer = getattr(self.world.optim, name)(self.model.parameters(), **options)

    def loss(self):
        return ((self.model(self.x) - self.y) ** 2).mean()

    def act(self, name, seed):
        generator = np.random.default_rng(seed)
        self.x, self.y = (self.world.tensor(generator.normal(size=(6, 4))) for _ in range(2))
        self.some = list(self.model.parameters())[seed % len(list(self.model.parameters()))]
        getattr(self, name)()

    def step(self):
        self.optimizer.zero_grad()
        self.gather()
        self.optimizer.step()

    def gather(self):
        loss = self.loss()
        self.out.append(loss.item())
        if loss.requires_grad:
            loss.backward()

    def freeze(self):
        self.some.requires_grad_(False)

    def thaw(self):
        self.model.requires_grad_(True)

    def evaluate(self):
        self.model.eval()
        self.out.append(self.model(self.x).sum().item())
        self.model.train()

    def copy(self):
        self.model, self.handles = copy.deepcopy(self.model), []
        self.start()

    def save(self):
        for part in (self.model, self.optimizer):
            file = io.BytesIO()
            self.world.save(part.state_dict(), file)
            file.seek(0)
            part.load_state_dict(self.world.load(file))

    def renew(self):
        state = self.optimizer.state_dict()
        self.start()
        self.optimizer.load_state_dict(state)

    def clip(self):
        if any(p.grad is not None for p in self.model.parameters()):
            self.out.append(float(self.nn.utils.clip_grad_norm_(self.model.parameters(), 0.3)))

    def zero(self):
        self.optimizer.zero_grad(set_to_none=False)

    def average(self):
        with self.world.no_grad():
            for name, p in self.model.named_parameters():
                self.shadow[name] = self.shadow.get(name, p) * 0.9 + p * 0.1

    def swap(self):
        kept = {name: p.data for name, p in self.model.named_parameters()}
        for name, p in self.model.named_parameters():
            p.data = self.shadow.get(name, p).detach().clone()
        self.evaluate()
        for name, p in self.model.named_parameters():
            p.data = kept[name]

    def vector(self):
        vector = self.nn.utils.parameters_to_vector(self.model.parameters()).detach()
        self.nn.utils.vector_to_parameters(vector * 1.01, self.model.parameters())

    def hook(self):
        if self.some.requires_grad:
            self.handles.append(self.some.register_hook(lambda g: g * 0.5))

    def unhook(self):
        if self.handles:
            self.handles.pop().remove()

    def by_hand(self):
        with self.world.no_grad():
            for p in self.model.parameters():
                if p.grad is not None:
                    p -= 0.01 * p.grad

    def cast(self):
        self.model.float().double()

    def slow(self):
        for group in self.optimizer.param_groups:
            group["lr"] *= 0.5

    def state(self):
        values = {k: v.numpy().tolist() for k, v in self.model.state_dict().items()}
        gradients = {k: None if p.grad is None else p.grad.numpy().tolist() for k, p in self.model.named_parameters()}
        return self.out, values, gradients


ACTS = ["freeze", "thaw", "evaluate", "copy", "save", "renew", "clip", "zero", "average", "swap", "vector", "hook", "unhook",
        "by_hand", "cast", "slow", "gather"] + ["step"] * 6  # fmt: skip


def same(a, b):
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list | tuple):
        return isinstance(b, list | tuple) and len(a) == len(b) and all(map(same, a, b))
    return a == b if a is None or b is None else a == pytest.approx(b, rel=1e-6, abs=1e-7)


@pytest.mark.filterwarnings("ignore")
def test_random_training_programs():
    for seed in range(60):
        rng = random.Random(seed)
        layers, optimizer = [*rng.choices(LAYERS, k=rng.randrange(1, 4)), "linear"], rng.choice(OPTIMIZERS)
        acts = [(rng.choice(ACTS), rng.randrange(1000)) for _ in range(rng.randrange(4, 18))]
        runs = [Run(world, layers, optimizer, seed) for world in (torch, own)]
        for k, (name, number) in enumerate(acts):
            for run in runs:
                run.act(name, number)
            expected, found = (run.state() for run in runs)
            assert same(expected, found), (seed, layers, optimizer, acts[: k + 1], expected, found)

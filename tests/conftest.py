"""What every test starts from: the same modes, the same random numbers, no display; how hard Hypothesis looks.

Markers, the time limit and "a warning is an error" are in pyproject.toml.
"""

import gc
import importlib
import os
import signal
import types

os.environ["MPLBACKEND"] = "Agg"
os.environ.setdefault("ADJOINT_CACHE", "")  # no object code on disk, unless the caller wants it

# What a shell starts in the background ignores Ctrl-C, and so do its children; tests of interrupts need it heard.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import none

import adjoint as ad
from adjoint.execution import prices
from adjoint.execution.budget import budget
from adjoint.execution.tiers import tiers
from adjoint.primitives import core
from adjoint.tensors import located
from browsing import chromium, opened

__all__ = ["chromium", "opened"]

# A run in CI must not fail by chance: it draws the same programs each time; `whole` looks for new ones.
common = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}
settings.register_profile("quick", max_examples=5, derandomize=True, **common)
settings.register_profile("standard", max_examples=30, derandomize=True, **common)
settings.register_profile("whole", max_examples=1000, print_blob=True, **common)
settings.load_profile("standard")

budget.said = True  # else whichever test meets the last of many lengths is warned of what others have compiled
tiers.loading = 0.0  # as if the compiler were loaded: when a plan is compiled must not depend on the tests before,
tiers_module = importlib.import_module("adjoint.execution.tiers")  # nor what compiling is thought to take
tiers_module.FROM_DISK = 1e-6
tiers_module.prices = types.SimpleNamespace(
    seconds=lambda kinds, count: 0.0042 * max(1.0, count / 1000), paid=lambda kinds: True,
    note=lambda kinds, count, took: None, kinds_of=prices.kinds_of, kinds_of_nodes=prices.kinds_of_nodes,
)  # fmt: skip


# Files that fork, or collect garbage again and again: each time costs the more, the more the process holds by then.
FIRST = frozenset(f"test_{name}" for name in (
    "memory", "loading", "commands", "interrupts", "threads", "native_robustness", "resume", "train", "estimators", "jit",
    "checkpoint", "hostile_files", "optim", "transforms",
))  # fmt: skip


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.path.stem not in FIRST)


@pytest.fixture(autouse=True, scope="session")
def random_numbers():
    """Hypothesis makes its random numbers once, and asks the collector who holds them: since Python 3.14 that is a dictionary
    which may have been frozen by then, and of such the collector says nothing."""
    given(none())(lambda _: None)()


@pytest.fixture(autouse=True, scope="module")
def few_objects():
    """A collection in a test looks through what its own file has made, not through some 20,000 tests and what the engine has
    kept from the files before: a million objects and more, a second each time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def fresh_state():
    """Undo what a test did to the engine's modes, and let none depend on the random numbers that another drew."""
    dtype = ad.get_default_dtype()
    ad.random.seed(0)
    core.ON_WIDENING[:] = [located.warn_of_widening]
    yield
    ad.set_default_dtype(dtype)
    ad.set_deterministic(False)
    assert ad.is_grad_enabled(), "the test left gradients switched off"


@pytest.fixture
def equal_bits():
    """Equal computations give equal bits: else the clock decides what is compiled, and with it the last digits."""
    ad.set_deterministic(True)  # until the test is over: see `fresh_state`


@pytest.fixture
def backends():
    """Choose a backend, in float64."""
    before = tiers.backend
    ad.set_default_dtype("float64")

    def choose(name):
        tiers.backend = name

    yield choose
    tiers.backend = before

"""A jitted step that a signal's handler interrupts has happened as a whole or not at all."""

from __future__ import annotations

import gc
import inspect
import random
import signal
import sys
from contextlib import contextmanager

import numpy as np
import pytest

import adjoint as ad
from adjoint import optim, tracing
from adjoint.execution.tiers import tiers
from adjoint.tracer import compiled, write_results

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers that send signals")


class Stopped(BaseException):
    """What the handler raises. No `except Exception` may keep it."""


def in_finalizer(frame):
    """Whether a signal came while a finalizer ran, where what its handler raises is lost."""
    while frame is not None and frame.f_code.co_name != "__del__":
        frame = frame.f_back
    return frame is not None


def wait(handled, count):
    """Until an alarm is handled. A function, as Python 3.13 counts a loop's jump back as outside of the `try` around it."""
    while len(handled) == count:
        pass


@contextmanager
def alarms(error):
    """While the block runs SIGALRM raises; a function that sets the alarm, and the alarms that were handled so far."""
    handled = []

    def handler(number, frame):
        if in_finalizer(frame):
            signal.setitimer(signal.ITIMER_REAL, 0.0001)
            return
        handled.append(number)
        raise error("time is up")

    before = signal.signal(signal.SIGALRM, handler)
    gc.disable()  # what a handler raises inside a callback of the collector, as Hypothesis has one, is lost
    try:
        yield lambda seconds: signal.setitimer(signal.ITIMER_REAL, seconds), handled
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        gc.enable()


class Counting:
    """A step that counts in every kind of state that there is."""

    def __init__(self, size, length):
        self.w = ad.variable(np.zeros(size, "f"))
        self.v = ad.variable(np.zeros(3, "f"))
        self.total = ad.tensor(0.0)
        self.generator = ad.random.Generator(0)
        self.optimizer = optim.Adam([self.w, self.v], lr=0.001)
        offset = ad.tensor(np.linspace(0, 1, size, dtype="f"))

        @ad.jit
        def step():
            work = offset + self.w.detach() * 0
            for _ in range(length):
                work = ad.sin(work)
            self.optimizer.zero_grad()
            (self.w.sum() * (self.total + 1) + self.v.sum() + 0 * self.generator.uniform((4,)).sum()).backward()
            self.optimizer.step()
            self.total += 1
            return work.sum()

        self.step = step

    def counts(self):
        """How many steps each part of the state has seen."""
        first, second = self.optimizer.state
        gradient = 0 if self.w.grad is None else self.w.grad.numpy()[0]
        moved = np.round(-self.v.numpy() / 0.001, 2)  # Adam's steps along a constant gradient are all of one length
        found = [first.get("step", 0), second.get("step", 0), self.total.item(), self.generator._counter, gradient]
        return [float(x) for x in (*found, *moved)]


def interrupted(counting, error, seconds, times):
    """Steps with an alarm after so many seconds each. How many steps happened although the alarm stopped them."""
    late = 0
    with alarms(error) as (set_alarm, handled):
        for k in range(times):
            before = counting.counts()
            raised = False
            try:
                set_alarm(seconds())
                counting.step()
                wait(handled, k)
            except error:
                raised = True
            assert raised and len(handled) == k + 1
            after = counting.counts()
            assert len(set(after)) == 1
            assert after[0] - before[0] in (0, 1)
            late += after[0] > before[0]
    return late


@pytest.mark.parametrize("error", [KeyboardInterrupt, Stopped, RuntimeError])
@pytest.mark.parametrize(
    "size", [30_000, 60_000]
)  # the memory of the larger goes back by a finalizer, where errors get lost
def test_an_interrupt_inside_the_native_call_comes_after_the_step(error, size):
    counting = Counting(size, 120)
    for _ in range(3):
        counting.step()
    written = any(c.step is not None for found in counting.step.compiled.values() for c in found)
    assert written is (tiers.backend != "numpy")
    interrupted(counting, error, lambda: 0.0005, 12)
    counting.step()
    assert len(set(counting.counts())) == 1


@pytest.mark.parametrize("lists", [False, True])
def test_interrupts_anywhere(lists, monkeypatch):
    if lists:
        monkeypatch.setattr(write_results, "MANY", 0)
        monkeypatch.setattr(compiled, "CALLS_OF_MANY", 1)
    rng = random.Random(0)
    counting = Counting(50, 1)
    counting.step()
    counting.step()
    late = interrupted(counting, Stopped, lambda: rng.uniform(0.000002, 0.00015), 500)
    assert 0 < late <= 500


def test_an_interrupted_trace_leaves_nothing_exchanged():
    node, rng = inspect.getattr_static(ad.Tensor, "node"), random.Random(2)
    w = ad.variable(1.0)
    with alarms(Stopped) as (set_alarm, handled):
        for k in range(200):
            step = ad.jit(lambda x: (w * x + x).sum() * 2)
            try:
                set_alarm(rng.uniform(0.00001, 0.0006))
                step(ad.tensor([1.0, 2.0]))
                wait(handled, k)
            except Stopped:
                pass
            assert inspect.getattr_static(ad.Tensor, "node") is node
            assert (w * 2).item() == 2
            assert "__getattribute__" not in vars(tracing.Watched)
            assert sys.getprofile() is None

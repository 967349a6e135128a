"""The continuous adjoint of an initial value problem: its reverse pass is another one, solved backwards in time.

Along y' = f(y, t, c), the cotangent a of y obeys a' = -(∂f/∂y)ᵀa and that of c grows by -(∂f/∂c)ᵀa (L. Pontryagin et al.,
1962; R. Chen et al., "Neural ordinary differential equations", NeurIPS 2018). Nothing of the way there is remembered but the
states that were asked for: y itself is solved backwards as well. Where that misses the state that it should come back to, as it
does for stiff equations, what was integrated along it has no meaning, and is NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import adjoint.tensors.functions as f
from adjoint.control.body import close
from adjoint.derive import reverse
from adjoint.graph import Node, mode, substitute
from adjoint.primitives import core
from adjoint.primitives.core import placeholder
from adjoint.primitives.custom import custom
from adjoint.solvers.steppers import Field
from adjoint.tensors.located import recording_at_user
from adjoint.tensors.named import wrap
from adjoint.tensors.tensor import Tensor
from adjoint.transforms.grad import stop_gradient, vjp
from adjoint.transforms.loops import scan

__all__ = ["with_continuous_adjoint"]

Solve = Callable[[Field, Tensor, Tensor], Tensor]


def with_continuous_adjoint(field: Field, solve: Solve, y0: Tensor, ts: Tensor, allowed: tuple[float, float]) -> Tensor:
    """solve(field, y0, ts), the states (T, n) at all times, with the continuous adjoint as its reverse pass. A state solved
    backwards may miss the one that was there by `allowed`: relative to the states at both ends, and besides."""
    problem = _Problem(field, solve, y0, ts, allowed)
    with recording_at_user():
        with mode(grad=False):
            values = solve(
                problem.field_of(stop_gradient([wrap(x) for x in problem.outside])), *stop_gradient((y0, ts))
            )
        inputs = [y0.node, ts.node, *problem.outside]
        value = core.stop_gradient(values.node)
        return wrap(
            custom([value], inputs, problem.pull, "odeint", single=True, transposed=problem.push, direct=problem.direct)
        )


class _Problem:
    """An initial value problem whose field reads constants from outside."""

    def __init__(self, field: Field, solve: Solve, y0: Tensor, ts: Tensor, allowed: tuple[float, float]) -> None:
        self.solve = solve
        self.allowed = allowed
        self.given = [placeholder(y0.node.type, "a state", True), placeholder(ts[0].node.type, "a time", True)]
        with mode(grad=True):
            out = field(*[wrap(x) for x in self.given]).node
        (self.closed,), self.inside, self.outside = close(self.given, [out])
        self.floating = [i for i, x in enumerate(self.inside) if x.dtype.inexact]

    def field_of(self, constants: Sequence[Tensor]) -> Field:
        """The field for these values of the constants."""
        known = dict(zip(self.inside, [c.node for c in constants], strict=True))
        return lambda y, t: wrap(substitute([self.closed], known | {self.given[0]: y.node, self.given[1]: t.node})[0])

    def pull(self, cotangents: list[Node | None], node: Node) -> list[Node | None]:
        """The reverse pass. Its own derivatives go through the steps that it takes."""
        (u,) = cotangents
        constants = node.inputs[3:]
        if u is None:
            return [None] * (2 + len(constants))
        inputs = [node, u, node.inputs[2], *constants]
        with mode(grad=False):
            outputs = self.pulled([core.stop_gradient(x) for x in inputs])

        def again(given: list[Node | None], made: Node) -> list[Node | None]:
            places = [i for i, x in enumerate(inputs) if x.dtype.inexact]
            before = list(made.inputs[len(outputs) :])
            marked = [core.marker(x, tracked=True) if i in places else x for i, x in enumerate(before)]
            found = reverse(self.pulled(marked), given, [marked[i] for i in places], stop=True)
            by = dict(zip(places, _on(before, marked, found), strict=True))
            return [by.get(i) for i in range(len(inputs))]

        made = custom(outputs, inputs, again, "adjoint of odeint", single=False)
        found: list[Node | None] = [None] * len(constants)
        for k, i in enumerate(self.floating):
            found[i] = core.select(made, 2 + k)
        return [core.select(made, 0), core.select(made, 1), *found]

    def pulled(self, inputs: Sequence[Node]) -> list[Node]:
        """The cotangents of y0, the times and the floating constants: from the last time to the first, what is asked for on
        the way added up."""
        ys, us, ts, *constants = [wrap(x) for x in inputs]
        field = self.field_of(constants)
        kept = [constants[i] for i in self.floating]
        n = ys.shape[1]

        def augmented(z: Tensor, t: Tensor) -> Tensor:
            def at(y: Tensor, *floating: Tensor) -> Tensor:
                replaced = list(constants)
                for i, c in zip(self.floating, floating, strict=True):
                    replaced[i] = c
                return self.field_of(replaced)(y, t)

            slope, pullback = vjp(at, z[:n], *kept)
            return f.concat([slope, *[-f.flatten(g.astype(z.dtype)) for g in pullback(z[n : 2 * n])]])

        def back(carry: tuple[Tensor, Tensor], x: tuple[Tensor, ...]) -> tuple[tuple[Tensor, Tensor], Tensor]:
            cotangent, totals = carry
            t, before, y, there, given = x
            start = f.concat([y, cotangent + given, totals])
            end = self.solve(augmented, start, f.stack([t, before]))[-1]
            end = end * self._trusted(end[:n], there, y)
            return (end[n : 2 * n], end[2 * n :]), (given * field(y, t)).sum()

        begin = (f.zeros_like(us[0]), f.zeros((sum([c.size for c in kept]),), dtype=ys.dtype))
        (a, totals), by_time = scan(back, begin, (ts[1:], ts[:-1], ys[1:], ys[:-1], us[1:]), reverse=True)
        first = -(a * field(ys[0], ts[0])).sum()
        times = f.concat([first[None], by_time]).astype(ts.dtype)
        found, at = [a + us[0], times], 0
        for c in kept:
            found.append(f.reshape(totals[at : at + c.size], c.shape).astype(c.dtype))
            at += c.size
        return [x.node for x in found]

    def _trusted(self, found: Tensor, there: Tensor, y: Tensor) -> Tensor:
        """One where solving backwards from y came back to the state that was there, else NaN."""
        relative, absolute = self.allowed
        known = f.abs(there).max() + f.abs(y).max()
        return f.where(f.abs(found - there).max() <= relative * known + absolute, 1.0, float("nan")).astype(y.dtype)

    def direct(self, node: Node) -> Node:
        """The states through the steps."""
        y0, ts, *constants = [wrap(x) for x in node.inputs[1:]]
        return self.solve(self.field_of(constants), y0, ts).node

    def push(self, cotangents: list[Node | None], node: Node) -> list[Node | None]:
        """What forward mode transposes: the reverse pass through the steps, which is linear in the cotangents."""
        y0, ts, *constants = node.inputs[1:]
        values = self.direct(node)
        wanted = [y0, ts, *[constants[i] for i in self.floating]]
        marked = [core.marker(x, tracked=True) for x in wanted]
        values = substitute([values], dict(zip(wanted, marked, strict=True)))[0]
        y, t, *found = _on(wanted, marked, reverse([values], cotangents, marked, stop=True, linear=True))
        by = dict(zip(self.floating, found, strict=True))
        return [y, t, *[by.get(i) for i in range(len(constants))]]


def _on(before: Sequence[Node], marked: Sequence[Node], found: Sequence[Node | None]) -> list[Node | None]:
    """Cotangents on the nodes that were marked, in place of their markers."""
    known = {m: x for m, x in zip(marked, before, strict=True) if m is not x}
    there = iter(substitute([g for g in found if g is not None], known, same_values=True))
    return [None if g is None else next(there) for g in found]

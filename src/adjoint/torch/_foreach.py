"""Functions of lists of tensors, `torch._foreach_add_` and its like: each tensor's own method, one after another."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from adjoint.tensors.located import at_user

from ._names import FUNCTIONS
from ._tensor import Core

__all__ = ["FOREACH"]

UNARY = """abs ceil cos erf exp expm1 floor frac log log10 log1p log2 neg reciprocal round rsqrt sigmoid sign sin sqrt tan tanh
trunc""".split()
BINARY = "add clamp_max clamp_min div maximum minimum mul pow sub".split()
TERNARY = "addcdiv addcmul".split()


def _each(name: str, given: Any, count: int) -> list[Any]:
    """An argument for each of the tensors: a list has one for each, all else is for all."""
    if not isinstance(given, Sequence):
        return [given] * count
    if len(given) != count:
        raise RuntimeError(f"{name}: {count} tensors and a list of {len(given)}{at_user()}")
    return list(given)


def _over(method: str, name: str, following: int) -> Callable[..., Any]:
    """The method over a list; `following` of its arguments are lists of tensors, or come one for each."""

    def called(self: Any, *args: Any, alpha: Any = None, value: Any = None) -> Any:
        given = [_each(name, a, len(self)) for a in args[:following]]
        last = args[following:] if value is None else (value,)
        factors = [_each(name, last[0].tolist() if isinstance(last[0], Core) else last[0], len(self))] if last else []
        more = {} if alpha is None else {"alpha": alpha}
        found = []
        for i, x in enumerate(self):
            options = {"value": factors[0][i], **more} if factors else more
            found.append(getattr(x, method)(*[a[i] for a in given], **options))
        return list(self) if method.endswith("_") else tuple(found)

    called.__name__ = called.__qualname__ = name
    return called


def _norm(self: Any, ord: Any = 2) -> tuple[Any, ...]:
    """The norm of each."""
    return tuple([FUNCTIONS["linalg.vector_norm"](x, ord) for x in self])


def _by_formula(f: str) -> Callable[..., Any]:
    def called(self: Any, other: Any) -> list[Any]:
        for x, y in zip(self, _each(f"_foreach_{f}_", other, len(self)), strict=True):
            x.copy_(getattr(x, f)(y))
        return list(self)

    return called


def _table() -> dict[str, Callable[..., Any]]:
    made: dict[str, Callable[..., Any]] = {"_foreach_norm": _norm}
    for names, following in ((UNARY, 0), (BINARY, 1), (TERNARY, 2), (["lerp"], 2)):
        for name in names:
            for method in (name, f"{name}_"):
                made[f"_foreach_{method}"] = _over(method, f"_foreach_{method}", following)
    for name in ("maximum", "minimum"):  # which tensors have no method in place for
        made[f"_foreach_{name}_"] = _by_formula(name)
    made["_foreach_zero_"] = _over("zero_", "_foreach_zero_", 0)
    made["_foreach_copy_"] = _over("copy_", "_foreach_copy_", 1)
    return made


FOREACH = _table()

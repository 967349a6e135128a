"""Tensors under other names: a model from elsewhere in a module of one's own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from adjoint.tensors.functions import asarray
from adjoint.tensors.located import at_user

__all__ = ["rename"]


def rename(
    tensors: Mapping[str, Any], rules: Mapping[str, str | None], *, transpose: str | None = None
) -> dict[str, Any]:
    r"""The tensors under other names, in their order.

    Each rule is a regular expression and what takes the place of each part of a name that it fits, as `re.sub` has it; they are
    applied one after the other. None leaves out the tensors that the rule fits. `transpose` is an expression for the old names of
    matrices that are stored the other way round. Raises ValueError when two tensors come to one name, and when `transpose` fits
    none: square matrices would be loaded as they are without a word.

    >>> import adjoint as ad
    >>> stored = {"h.0.mlp.c_fc.weight": ad.ones((2, 8)), "h.0.attn.mask": ad.ones(3)}
    >>> found = ad.interop.rename(stored, {r"mask$": None, r"^h\.(\d+)\.": r"blocks.\1."}, transpose=r"c_fc\.weight$")
    >>> {name: tensor.shape for name, tensor in found.items()}
    {'blocks.0.mlp.c_fc.weight': (8, 2)}
    """
    patterns = [(re.compile(pattern), new) for pattern, new in rules.items()]
    turned = re.compile(transpose) if transpose is not None else None
    if turned is not None and tensors and not any(map(turned.search, tensors)):
        raise ValueError(f"rename: transpose={transpose!r} fits no name, such as {next(iter(tensors))}{at_user()}")
    found: dict[str, Any] = {}
    came_from: dict[str, str] = {}
    for old, tensor in tensors.items():
        name: str | None = old
        for pattern, new in patterns:
            if new is None and pattern.search(str(name)):
                name = None
                break
            if new is not None:
                name = pattern.sub(new, str(name))
        if name is None:
            continue
        if name in found:
            raise ValueError(f"rename: {came_from[name]} and {old} both become {name}{at_user()}")
        came_from[name] = old
        found[name] = asarray(tensor).mT if turned is not None and turned.search(old) else tensor
    return found

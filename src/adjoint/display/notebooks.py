"""The explorer as a widget of a notebook, through anywidget: a number dragged in the page is a variable set in Python."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib import resources
from typing import Any

import numpy as np

from adjoint import _optional
from adjoint.tensors.tensor import Tensor

__all__ = ["make_widget"]

PURPOSE = "an explorer with leaves that Python follows"


def make_widget(page: str, leaves: Mapping[str, tuple[int, Tensor]]) -> Any:
    """A widget that shows a page. leaves: for each name the leaf's place in the page's program, and its tensor."""
    return _widget_class()(page=page, leaves=leaves)


@functools.cache
def _widget_class() -> Any:
    anywidget = _optional.load("anywidget", purpose=PURPOSE, extra="notebook")
    traitlets = _optional.load("traitlets", purpose=PURPOSE, extra="notebook")
    script = resources.files("adjoint.picture").joinpath("scripts/widget.js").read_text("utf-8")
    members = {
        "__doc__": "An explorer page whose leaves are variables: w[name] reads one, w[name] = value sets it in both places.",
        "_esm": script,
        "page": traitlets.Unicode().tag(sync=True),
        "moved": traitlets.Dict().tag(sync=True),
        "placed": traitlets.Dict().tag(sync=True),
        "__init__": _init,
        "__getitem__": _get,
        "__setitem__": _set,
        "_on_moved": _on_moved,
    }
    return type("ExplorerWidget", (anywidget.AnyWidget,), members)


def _init(self: Any, page: str, leaves: Mapping[str, tuple[int, Tensor]]) -> None:
    super(type(self), self).__init__(page=page)
    self._leaves = dict(leaves)
    self.observe(self._on_moved, names="moved")


def _on_moved(self: Any, change: Any) -> None:
    """Set the variable that was moved in the page."""
    for slot, tensor in self._leaves.values():
        if slot == change.new["slot"]:
            numbers = tensor.numpy()
            parts = np.asarray(change.new["numbers"], numbers.real.dtype)  # of each complex number two
            tensor.data = parts.view(numbers.dtype).reshape(tensor.shape)


def _get(self: Any, name: str) -> Tensor:
    found: Tensor = self._leaves[name][1]
    return found


def _set(self: Any, name: str, value: Any) -> None:
    slot, tensor = self._leaves[name]
    tensor.data = value
    numbers = tensor.numpy()
    self.placed = {"slot": slot, "numbers": numbers.ravel().view(numbers.real.dtype).tolist()}

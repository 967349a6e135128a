"""What PyTorch and JAX have, and adjoint under another name, the hints lead to: asked name by name."""

from __future__ import annotations

from typing import Any

import pytest

import adjoint as ad
import adjoint.torch as interface

pytestmark = pytest.mark.oracle
torch = pytest.importorskip("torch")

X = ad.ones((2, 2))
PLACES: dict[str, tuple[Any, Any, Any]] = {
    "torch": (torch, ad, interface),
    "Tensor": (torch.Tensor, X, interface.Tensor),
    "linalg": (torch.linalg, ad.linalg, interface.linalg),
    "special": (torch.special, ad.special, interface.special),
    "fft": (torch.fft, ad.fft, interface.fft),
    "functional": (torch.nn.functional, ad.nn.functional, interface.nn.functional),
    "optim": (torch.optim, ad.optim, interface.optim),
    "distributions": (torch.distributions, ad.stats, interface.distributions),
}  # fmt: skip


def said_nothing(owner: Any, name: str) -> bool:
    try:
        getattr(owner, name)
    except AttributeError as error:
        return "; " not in str(error)
    return False


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("place", PLACES)
def test_what_pytorchs_interface_has_is_named(place: str) -> None:
    theirs, owner, ours = PLACES[place]
    names = [n for n in dir(theirs) if not n.startswith("_") and hasattr(ours, n)]
    missing = [n for n in names if said_nothing(owner, n) and callable(getattr(theirs, n, None))]
    assert len(names) > 5 and [n for n in missing if not isinstance(getattr(theirs, n), type)] == []


def test_what_jax_calls_otherwise_is_named() -> None:
    names = "slice_in_dim integer_pow is_finite logistic reduce_max shift_left conv_transpose pmax axis_size debug_nans typeof"
    for name in names.split():
        assert not said_nothing(ad, name), name

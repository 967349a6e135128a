"""What fails because of values fails where it is called if somebody may handle that, and is recorded elsewhere."""

import contextlib
import threading

import pytest

import adjoint.torch as torch


def _inverse(x):
    return torch.linalg.inv(x)


def _tried(x):
    try:
        return _inverse(x)
    except RuntimeError:
        return "handled"


def _finally(x):
    try:
        return _inverse(x)
    finally:
        x.mul_(2)


def _within(x):
    with contextlib.suppress(RuntimeError):
        return _inverse(x)
    return "handled"


class _Layer(torch.nn.Module):
    def forward(self, x):
        return torch.inverse(x)


PROGRAM = """
y = inverse(x)
z = [*map(inverse, [x, x])]
try:
    pass
except RuntimeError:
    pass
after = inverse(x)
"""
HANDLING = """
try:
    found = inverse(x)
except RuntimeError:
    found = "handled"
"""


def _main(program, **names):
    """The names of a program, which nobody but the interpreter runs."""
    names |= {"__name__": "__main__", "inverse": _inverse}
    exec(compile(program, "program.py", "exec"), names)
    return names


@pytest.mark.parametrize("f", [_tried, _within, lambda x: _main(HANDLING, x=x)["found"]])
def test_an_error_meets_the_handler_around_it(f):
    assert f(torch.zeros(2, 2)) == "handled"
    assert f(torch.eye(2)).tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_an_error_is_there_before_what_comes_in_any_case():
    x = torch.ones(2, 2)
    for f in (_finally, _Layer(), lambda x: list(map(_inverse, [x])), lambda x: [_inverse(x) for _ in "1"]):
        with pytest.raises(RuntimeError, match="singular"):
            f(x)
    assert x.tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_without_a_handler_it_is_recorded_with_the_rest():
    names = _main(PROGRAM, x=torch.zeros(2, 2))
    for y in (names["y"], *names["z"], names["after"]):
        assert y.node.value is None
        with pytest.raises(RuntimeError, match="singular"):
            y.tolist()


def test_a_program_that_runs_another_one_handles_its_errors():
    outer = "try:\n    exec('inverse(x)')\nexcept RuntimeError:\n    found = 'handled'\n"
    assert _main(outer, x=torch.zeros(2, 2))["found"] == "handled"


def test_a_thread_has_handlers_of_its_own():
    found = []
    thread = threading.Thread(target=lambda: found.append(_tried(torch.zeros(2, 2))))
    thread.start()
    thread.join()
    assert found == ["handled"]

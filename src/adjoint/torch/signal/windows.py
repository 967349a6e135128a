"""torch.signal.windows: symmetric unless `sym=False`."""

from .._missing import getter
from .._names import recorded_at_user
from .._signals import WINDOWS

__all__ = [*WINDOWS]

globals().update({name: recorded_at_user(f) for name, f in WINDOWS.items()})
__getattr__ = getter("torch.signal.windows", globals())

"""Exchange with other programs: weights in safetensors files, and in PyTorch's."""

from .renaming import rename
from .safetensors import load, load_metadata, load_with_metadata, save

__all__ = ["load", "load_metadata", "load_with_metadata", "rename", "save"]

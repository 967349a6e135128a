"""Exchange with other programs: weights in safetensors files."""

from .safetensors import load, save

__all__ = ["load", "save"]

"""Seeing why a gradient is what it is."""

from .explanation import Explanation, Path, explain
from .flow import Flow, Layer, gradient_flow
from .nonfinite import NanReport, explain_nan

__all__ = ["Explanation", "Flow", "Layer", "NanReport", "Path", "explain", "explain_nan", "gradient_flow"]

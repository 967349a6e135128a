"""Seeing why a gradient is what it is."""

from adjoint.hints import hinted_module

from .explanation import Explanation, Path, explain
from .flow import Flow, Layer, gradient_flow
from .nonfinite import NanReport, explain_nan

__all__ = ["Explanation", "Flow", "Layer", "NanReport", "Path", "explain", "explain_nan", "gradient_flow"]

__getattr__ = hinted_module("adjoint.debug")

"""Pictures of graphs: a model of plain data, and what is written from it (text, DOT, the explorer's page)."""

from adjoint.picture.flow import compute
from adjoint.picture.model import Box, Comparison, Decision, Edge, Group, Picture, Quantity, Turn, build

__all__ = ["Box", "Comparison", "Decision", "Edge", "Group", "Picture", "Quantity", "Turn", "build", "compute"]

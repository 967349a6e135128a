"""Pictures of graphs: a model of plain data, and what is written from it (text, DOT, the explorer's page)."""

from adjoint.picture.model import Box, Comparison, Edge, Group, Picture, Quantity, build

__all__ = ["Box", "Comparison", "Edge", "Group", "Picture", "Quantity", "build"]

"""Kernels as loops: the records, their text, and what writes each kind of unit as them."""

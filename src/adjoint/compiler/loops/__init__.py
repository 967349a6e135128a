"""Kernels as loops: the records, their text, check and interpreter, and what writes each kind of unit as them."""

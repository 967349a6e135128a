"""Timed comparisons of adjoint with its peers; see README.md beside this file."""

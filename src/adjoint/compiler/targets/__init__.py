"""Processors: registers and tuning tables, and loops rendered for them."""

"""Loops and branches as nodes that hold a graph, with derivatives of every order in both modes."""

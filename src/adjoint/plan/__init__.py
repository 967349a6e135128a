"""Plans: a numbered graph as one list of steps, and the exact rules that make it shorter."""

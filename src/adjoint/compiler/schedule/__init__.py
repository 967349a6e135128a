"""How a unit runs: passes, loops, tiles and chunks, decided before any code is written."""

"""Programs of single numbers: written out, rolled into loops where they repeat, and run by one native loop."""

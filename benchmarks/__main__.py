"""`python -m benchmarks`: run the comparisons."""

import sys

from benchmarks import engine, networks, training, transformations
from benchmarks.harness import main

sys.exit(main([engine, networks, training, transformations]))

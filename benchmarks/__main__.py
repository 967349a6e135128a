"""`python -m benchmarks`: run the comparisons."""

import sys

from benchmarks import (
    arrays,
    cliffs,
    compiled,
    engine,
    loops,
    models,
    native,
    networks,
    science,
    steps,
    training,
    transformations,
)
from benchmarks.harness import main

sys.exit(
    main([engine, networks, native, compiled, training, transformations, arrays, cliffs, loops, models, steps, science])
)

"""Functions of arrays beside those that load with the package: loaded, primitives and all, when first named."""

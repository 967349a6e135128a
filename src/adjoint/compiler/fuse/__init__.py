"""Steps become units, and units move beside each other."""

"""Sums, means, extrema and running sums."""

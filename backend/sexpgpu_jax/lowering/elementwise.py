"""Arithmetic, comparison, logic and the functions that act on each element alone."""

"""Graphs: `nodes` is what they are, `verify` what is true of each, `printer` how they read."""

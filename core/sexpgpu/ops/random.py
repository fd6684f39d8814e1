"""Rows of the operator table: random."""

"""Rows of the operator table: reductions."""

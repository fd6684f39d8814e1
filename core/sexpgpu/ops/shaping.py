"""Rows of the operator table: shaping."""

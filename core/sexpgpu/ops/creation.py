"""Rows of the operator table: creation."""

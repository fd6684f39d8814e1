"""Rows of the operator table: indexing."""

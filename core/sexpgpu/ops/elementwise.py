"""Rows of the operator table: elementwise."""

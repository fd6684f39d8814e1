"""Rows of the operator table: linear."""

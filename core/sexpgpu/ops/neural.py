"""Rows of the operator table: neural."""

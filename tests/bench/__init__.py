"""Measurements against the budgets: `make bench`. `programs` writes the files that are measured, `cold` times whole commands beside
other checkers, `analysing` the analysis inside a process. Each has rows for the table that `__main__` prints."""

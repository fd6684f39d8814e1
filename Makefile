# Each target is the first command on a fresh machine: it makes the environment in .venv when there is none, and again when
# pyproject.toml changes. Needed beforehand: Python 3.11 or newer, make, and a way to the package index.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
INSTALLED := .venv/.installed
PIP := $(BIN)/python -m pip --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help demo test check fmt bench update

help: ## what there is to do
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 16

demo: $(INSTALLED) ## train a small run file on this machine and draw its falling loss
	@rm -rf runs/demo
	@$(BIN)/sexpgpu run docs/examples/tiny-generate.sx --out runs/demo
	@$(BIN)/python -m sexpgpu_jax.curve runs/demo

test: $(INSTALLED) ## all tests (ARGS="-k drawn" for some of them)
	@$(BIN)/python -m pytest -n 2 --dist worksteal $(ARGS)

check: $(INSTALLED) ## lint, format, types, and the examples through the checker itself
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/pyright
	@$(BIN)/sexpgpu check docs/examples

fmt: $(INSTALLED) ## mend what can be mended of lint and format
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bench: $(INSTALLED) ## measure against the budgets of docs/architecture.md, beside other checkers
	@PYTHONPATH=tests $(BIN)/python -m bench

update: $(INSTALLED) ## draw fixtures, goldens and generated pages anew: read the difference before committing it
	@$(BIN)/python -m pytest --update -n 2 --dist worksteal $(ARGS)

$(INSTALLED): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed: PYTHON=/path/to/python3.11 make …"; exit 1; }
	@$(PIP) --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear .venv || { echo "try: apt-get install python3-venv"; exit 1; }
	@echo "installing into .venv …"
	@$(PIP) install -qq --editable '.[all,dev]'
	@touch $(INSTALLED)

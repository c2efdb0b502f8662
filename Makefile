# `make test` and `make demo` on a machine with git and Python 3.11 or later. `make` lists what there is.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Two test processes: the suite starts many git processes, more of them fight for two cores.
JOBS ?= 2
# What is compiled once is not compiled again by each of the thousands of processes that the tests start.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help test lint types fences drift tests wheel demo generate format clean

help:
	@echo 'make test      everything that continuous integration checks'
	@echo 'make demo      gitmem on a small repository, a minute to read'
	@echo 'make format    ruff format and the safe fixes of ruff check'
	@echo 'make generate  write schemas/ and docs/cli.md anew'
	@echo 'make clean     remove $(VENV) and caches'
	@echo
	@echo 'make PYTHON=python3.13 test takes another Python for a new $(VENV)'

test: lint types fences drift tests wheel
	@echo 'make test: all checks passed'

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

fences: $(VENV)/.dev
	$(BIN)/lint-imports

drift: $(VENV)/.dev
	$(BIN)/python -m pytest tests/test_generated.py

tests: $(VENV)/.dev
	$(BIN)/python -m pytest -m 'not wheel' -n $(JOBS) --dist worksteal

wheel: $(VENV)/.dev
	$(BIN)/python -m pytest tests/wheel

demo: $(VENV)/.installed
	@$(BIN)/python demo/run.py

generate: $(VENV)/.dev
	$(BIN)/python -m tests.test_generated

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .hypothesis .import_linter_cache

# The stamps: nothing is installed again until pyproject.toml changes.
$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group dev
	@touch $@

# pip knows --group since 25.1. A half-made environment is removed, so that the next run begins anew.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo 'gitmem needs Python 3.11 or later; $(PYTHON) is' "$$($(PYTHON) --version 2>&1 | head -n 1)" >&2; \
	  echo 'try: make PYTHON=python3.12 $(MAKECMDGOALS)' >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo '$(PYTHON) cannot make environments: its modules venv and ensurepip are missing' >&2; \
	  echo 'on Debian and Ubuntu: sudo apt-get install python3-venv' >&2; exit 1; }
	@git --version >/dev/null 2>&1 || { echo 'gitmem needs git, and git was not found' >&2; exit 1; }
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1' || { rm -rf $(VENV); exit 1; }

# Each target works alone on a machine that has Python 3.11 or later, git and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# The benchmark's PyTorch: a fixed release, so that the comparison can be repeated.
TORCH ?= torch==2.13.0
export CONFIDE_DATA

.PHONY: demo test test-slow test-all lint docs check bench peers paper faults minimums release-check clean

demo: $(VENV)/.demo
	$(BIN)/confide demo

# All but the slow tests.
test: $(VENV)/.test
	$(BIN)/python -m pytest -n auto -m "not slow"

# Those that take more than a few seconds each: half an hour. Ray may end a process that it has
# left, so its tests have one of their own.
test-slow: $(VENV)/.test
	$(BIN)/python -m pytest -n auto -m slow --ignore tests/engines
	$(BIN)/python -m pytest -m slow tests/engines

# Every test: what continuous integration runs.
test-all: test test-slow

# Formatting, lint and types.
lint: $(VENV)/.check
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/mypy tests/public_api.py tools/release_check.py

# The documentation, in site/; a warning or a broken link is an error.
docs: $(VENV)/.docs
	$(BIN)/python docs/tools/assemble.py build/pages
	NO_MKDOCS_2_WARNING=1 PYTHONPATH=docs/tools $(BIN)/mkdocs build --strict

check: lint docs test-all

# Ours against the same procedure in other libraries; about 25 minutes.
bench: $(VENV)/.peers
	$(BIN)/python benchmarks/fit.py

# Other libraries beside confide on the same data; many hours, it can be stopped and goes on where it
# was. Needs the data (see `confide.datasets.load`).
peers: $(VENV)/.peers
	$(BIN)/python benchmarks/peers.py -o results/peers.md

# Every table and figure of the paper, hours; it can be stopped and goes on where it was. Needs the
# data (see `confide.datasets.load`).
paper: $(VENV)/.experiments
	$(BIN)/confide experiment run all
	$(BIN)/confide experiment report

# Attacks of every kind, and counts of what gave way; about an hour and a half, it can be stopped and goes on
# where it was. The tests run a short version.
faults: $(VENV)/.test
	$(BIN)/python tools/faults.py --folder build/faults -o results/faults.md

# The oldest versions that pyproject.toml allows, in an environment of their own; some minutes.
minimums: | $(BIN)/python
	$(BIN)/python tools/minimums.py

# Builds wheel and sdist and tries the wheel in an empty environment; some minutes.
release-check: $(VENV)/.release
	$(BIN)/python tools/release_check.py

clean:
	rm -rf $(VENV) build site

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(VENV)/.experiments: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[boosting,experiments]'
	touch $@

$(VENV)/.test: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	touch $@

# What only continuous integration installs: the libraries of other learners.
$(VENV)/.extras: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet $(TORCH)
	$(BIN)/python -m pip install --quiet --editable '.[boosting,flax,torch]'
	touch $@

$(VENV)/.docs: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	touch $@

$(VENV)/.check: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[check]'
	touch $@

$(VENV)/.release: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[release]'
	touch $@

$(VENV)/.peers: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet $(TORCH)
	$(BIN)/python -m pip install --quiet --editable '.[peers]'
	touch $@

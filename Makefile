# Every target sets up what it needs in a local virtual environment, .venv.
PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3.13 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
# A wheel that was fetched once is not fetched again; no upgrade check, no questions.
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check --no-input
# Two workers; which test runs where, and what comes first, is decided in tests/conftest.py.
TOGETHER := -n 2 --dist loadgroup --no-loadscope-reorder

.DEFAULT_GOAL := help
.PHONY: help demo test test-matrix faults check format bench bench-full reproduce dist docs gallery clean-cache clean

help:  ## show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "manyview needs Python 3.11 or newer: install it, or run make PYTHON=/path/to/python" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "manyview needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1). Run make PYTHON=/path/to/python" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo "could not make a virtual environment; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	@echo "installing manyview and what the demo needs into $(VENV) (once)"
	@$(PIP) install -e ".[cli,report,excel]"
	@touch $@

$(VENV)/.test: pyproject.toml | $(BIN)/python
	@echo "installing manyview and what the tests need into $(VENV) (once)"
	@$(PIP) install -e ".[test]"
	@touch $@ $(VENV)/.demo $(VENV)/.docs

$(VENV)/.quality: pyproject.toml | $(BIN)/python
	@echo "installing the checkers into $(VENV) (once)"
	@$(PIP) install -e ".[cli,report,quality]"
	@touch $@

$(VENV)/.docs: pyproject.toml | $(BIN)/python
	@echo "installing the documentation tools into $(VENV) (once)"
	@$(PIP) install -e ".[docs]"
	@touch $@

$(VENV)/.gallery: pyproject.toml | $(BIN)/python
	@echo "installing what the examples need into $(VENV) (once)"
	@$(PIP) install -e ".[gallery]"
	@$(PIP) install --no-deps bertopic  # without torch, which it needs only for its own embeddings
	@touch $@

demo: $(VENV)/.demo  ## cluster the embedded data: labels, scores and a picture
	@$(BIN)/manyview demo -o demo-output

test: $(VENV)/.test  ## run all tests
	@$(BIN)/python -m pytest $(TOGETHER)

test-matrix: $(VENV)/.test  ## run all tests on other BLAS kernels and other Pythons, where there are any
	@$(BIN)/python -m benchmarks.test_matrix $(TOGETHER)

faults: $(VENV)/.test  ## try to break it: random fits, damaged files and models, kills, failing disks
	@$(BIN)/python -m tests.faults.fuzz_estimator --n 3000 --keep
	@$(BIN)/python -m tests.faults.fuzz_readers --n 3000 --keep
	@$(BIN)/python -m tests.faults.fuzz_models --n 2000 --keep
	@$(BIN)/python -m tests.faults.kill_fits --n 50 --keep
	@$(BIN)/python -m tests.faults.kill_dask --n 30 --keep
	@$(BIN)/python -m tests.faults.inject --keep

check: $(VENV)/.quality  ## format, lint, types, import rules, spelling
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/codespell

format: $(VENV)/.quality  ## put the code into the one format
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: $(VENV)/.test  ## all benchmarks in their quick form
	@$(BIN)/python -m benchmarks.run --quick

bench-full: $(VENV)/.test  ## all benchmarks, whole
	@$(BIN)/python -m benchmarks.run

reproduce: $(VENV)/.demo  ## the paper's experiments and claims (FORM=--quick: ten minutes)
	@$(BIN)/manyview reproduce all $(FORM) -o reproduce-output

dist: $(VENV)/.test  ## build wheel and source distribution, install the wheel in an empty environment, try it
	@rm -rf dist
	@$(BIN)/python -m hatchling build
	@$(PYTHON) -m venv --clear $(VENV)-dist
	@$(VENV)-dist/bin/python -m pip --quiet --disable-pip-version-check --no-input install "$$(ls dist/*.whl)[cli,report]"
	@cd dist && ../$(VENV)-dist/bin/manyview doctor && ../$(VENV)-dist/bin/manyview demo -q -o smoke-test --force
	@rm -rf dist/smoke-test $(VENV)-dist
	@ls -l dist

docs: $(VENV)/.docs  ## build the documentation into docs/_build/html
	@$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html
	@$(BIN)/python docs/links.py docs/_build/html
	@echo "open docs/_build/html/index.html"

gallery: $(VENV)/.gallery  ## run the examples again, and keep what they print and draw (NAMES="digits news": only these)
	@$(BIN)/python docs/gallery.py $(NAMES)

clean-cache:  ## forget compiled kernels (needed after changing a loop that several kernels share)
	find src -name '*.nb[ci]' -delete

clean:  ## remove the environment and everything built
	rm -rf $(VENV) $(VENV)-3.* $(VENV)-dist demo-output reproduce-output docs/_build docs/reference/generated dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache

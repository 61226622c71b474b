# Two commands need nothing but Python >= 3.11 and make: `make demo` and `make test`.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
export PYTHONUTF8 = 1

.DEFAULT_GOAL := help
.PHONY: help demo test lint format bench promises reproduce constraints changelog clean

help:            ## what can be made
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*##/\t/' | expand -t 14

demo: $(VENV)/run.stamp    ## see what paucity does, on a million simulated scores
	@$(BIN)/paucity demo

test: $(VENV)/all.stamp    ## laws, references, engines, surface: everything that must hold
	@$(BIN)/python -m pytest

lint: $(VENV)/all.stamp    ## style, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(VENV)/all.stamp  ## put the code into its one style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/all.stamp   ## speed and memory against peers, as ratios in one run
	@$(BIN)/python -m bench

promises: $(VENV)/all.stamp  ## the slow statistical promises, in full
	@$(BIN)/python -m pytest -m promise

reproduce: $(VENV)/all.stamp ## the papers' tables and figures, theirs beside ours
	@$(BIN)/python -m reproduce

changelog: $(VENV)/all.stamp ## what the next release will say
	@$(BIN)/towncrier build --draft

constraints:     ## choose the pinned versions anew (needs uv)
	uv pip compile pyproject.toml --all-extras --group build --group lint --group test --group release $(COMPILE) -o constraints/all.txt
	uv pip compile pyproject.toml --extra cli --group build $(COMPILE) -c constraints/all.txt -o constraints/run.txt

COMPILE = --upgrade --universal --python-version 3.11 --generate-hashes \
          --no-emit-index-url --no-emit-find-links --no-header --quiet

clean:           ## remove the environment and all that was built
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis dist

# pip finds uv_build's program on the PATH only
INSTALL_PAUCITY = PATH="$(abspath $(BIN)):$$PATH" $(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .

# The environment: one check of the interpreter with one line of advice, then pinned packages with their hashes.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "paucity needs Python 3.11 or newer and make: '$(PYTHON)' is older or missing. Install it, or name another: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "This Python has no venv module: type 'apt-get install python3-venv' (Debian, Ubuntu), then the same make again."; exit 1; }
	@echo "making $(VENV) with the pinned packages; the first time takes a minute or two"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/run.stamp: constraints/run.txt pyproject.toml | $(BIN)/python
	@[ -e $(VENV)/all.stamp ] || { $(BIN)/python -m pip install --quiet --require-hashes -r constraints/run.txt && \
	  $(INSTALL_PAUCITY); }
	@touch $@

$(VENV)/all.stamp: constraints/all.txt pyproject.toml | $(BIN)/python
	@$(BIN)/python -m pip install --quiet --require-hashes -r constraints/all.txt
	@$(INSTALL_PAUCITY)
	@touch $@

# The tasks of the project; each sets up what it needs, and is quick the second time.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
SOURCES := pyproject.toml

.DEFAULT_GOAL := help
.PHONY: help demo test check fuzz docs bench format clean

help:  ## list the tasks
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

demo: $(VENV)/.demo  ## answer a query on a bundled network, and draw it with its beliefs
	$(BIN)/juncture query asia lung bronc --given xray=yes --given smoke=no
	@mkdir -p demo
	$(BIN)/juncture draw asia demo/asia.svg --given xray=yes --given smoke=no

test: $(VENV)/.test  ## run the tests
	$(BIN)/python -m pytest -q -m "not fuzz"

check: $(VENV)/.check  ## format, lint, types, house rules
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/house --ignore tests/house/test_docs.py  # which `test` runs

fuzz: $(VENV)/.test  ## fuzz the readers and all public callables for longer
	$(BIN)/python -m pytest -q -m fuzz

docs: $(VENV)/.docs  ## build the documentation into docs/_build
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build

bench: $(VENV)-bench/.ready  ## measure beside pyAgrum, in an environment of their own
	$(VENV)-bench/bin/python benchmarks/reading.py --peer $(VENV)-bench/bin/python
	$(VENV)-bench/bin/python benchmarks/inference.py --rows 10000 --memory

format: $(VENV)/.check  ## rewrite the sources in the house format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:  ## remove everything that the tasks made
	rm -rf $(VENV) $(VENV)-bench demo docs/_build .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: $(SOURCES) | $(BIN)/python
	$(PIP) -e .
	@touch $@

$(VENV)/.test: $(SOURCES) | $(BIN)/python
	$(PIP) -e ".[test]"
	@touch $@ $(VENV)/.demo

$(VENV)/.check: $(SOURCES) | $(BIN)/python
	$(PIP) -e ".[test,check]"
	@touch $@ $(VENV)/.test $(VENV)/.demo

$(VENV)-bench/.ready: $(SOURCES)
	$(PYTHON) -m venv $(VENV)-bench
	$(VENV)-bench/bin/python -m pip install --quiet --disable-pip-version-check -e . pyagrum==3.3.1
	@touch $@

$(VENV)/.docs: $(SOURCES) | $(BIN)/python
	$(PIP) -e ".[test,docs]"
	@touch $@ $(VENV)/.test $(VENV)/.demo

# The tasks of the project; each sets up what it needs, and is quick the second time.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
UV := $(BIN)/uv pip install --quiet --python $(BIN)/python
# uv takes seconds for what pip does in half a minute; where it is not to be had, or does not find a package, there is pip.
INSTALL := install() { test -x $(BIN)/uv && $(UV) "$$@" || $(PIP) "$$@"; }; install
SEED := 180420593  # of random examples, so that a run can be repeated; make fuzz draws fresh ones
PYTEST := OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -q -n 2 --dist worksteal --durations=20 --hypothesis-seed=$(SEED)
TOUCHING := tests/data tests/estimators tests/graphs tests/drawing tests/plots tests/cli tests/formats
# Engines of queries, jax, and the words and checks of scikit-learn, are tested with the newest versions (make test, make test-extras).
NEWEST := --ignore=tests/data/sources --ignore=tests/estimators/test_scikit_learn_checks.py --deselect=tests/estimators/regression/test_regressions.py::test_the_words_mean_the_same_as_in_scikit_learn
SOURCES := pyproject.toml
KERNELS := $(shell find src/juncture/kernels -name '*.py')
unexport PYTHONDONTWRITEBYTECODE  # modules are compiled once, by the first process that imports them

.DEFAULT_GOAL := help
.PHONY: help demo test test-all test-extras test-lowest check lint types kernels fuzz mutants docs bench stubs format clean

help:  ## list the tasks
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

demo: $(VENV)/.demo  ## answer a query on a bundled network, and draw it with its beliefs
	$(BIN)/juncture query asia lung bronc --given xray=yes --given smoke=no
	@mkdir -p demo
	$(BIN)/juncture draw asia demo/asia.svg --given xray=yes --given smoke=no

test: $(VENV)/.test kernels  ## run the tests, but for the slow ones
	$(PYTEST) -m "not fuzz and not slow"

test-all: $(VENV)/.test kernels  ## run all tests
	$(PYTEST) -m "not fuzz"

test-extras: $(VENV)-extras/.ready  ## run the tests that need optional packages (jax, DuckDB, Dask, Spark, …), with all of them installed
	PATH="$(CURDIR)/$(VENV)-extras/bin:$$PATH" OPENBLAS_NUM_THREADS=1 $(VENV)-extras/bin/python -m pytest -q -n 2 --dist loadfile --durations=20 --hypothesis-seed=$(SEED) -m "not fuzz and not slow" --extras

test-lowest: $(VENV)-lowest/.ready  ## run the tests of what touches other packages, with the oldest versions of them that are allowed
	OPENBLAS_NUM_THREADS=1 $(VENV)-lowest/bin/python -m pytest -q -n 2 --dist worksteal --durations=20 --hypothesis-seed=$(SEED) -m "not fuzz and not slow" -W ignore::DeprecationWarning -W "ignore:It looks like" $(TOUCHING) $(NEWEST)

check: $(VENV)/.demo  ## format, lint, types; meanwhile the kernels of the tests are compiled
	@$(MAKE) --no-print-directory --jobs=3 kernels types lint

lint: $(VENV)/.check
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.check
	$(BIN)/mypy

kernels: $(VENV)/.kernels

fuzz: $(VENV)/.test kernels  ## run the random tests on many examples, and fuzz the readers for longer
	HYPOTHESIS_PROFILE=fuzz $(PYTEST) --hypothesis-seed=random -m hypothesis
	$(BIN)/python -m pytest -q -m fuzz

mutants: $(VENV)/.test kernels  ## plant faults in the files changed since BASE (HEAD~1), and list those that no test finds
	OPENBLAS_NUM_THREADS=1 $(BIN)/python tests/mutants.py --base $(or $(BASE),HEAD~1) --number $(or $(NUMBER),20) --seed $(or $(FAULTS),0)

docs: $(VENV)/.docs  ## build the documentation into docs/_build
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build

bench: $(VENV)-bench/.ready  ## measure beside pyAgrum, in an environment of their own
	$(VENV)-bench/bin/python benchmarks/reading.py --peer $(VENV)-bench/bin/python
	$(VENV)-bench/bin/python benchmarks/inference.py --rows 10000 --memory

stubs: $(VENV)/.demo  ## write the type stubs of the faces, and the list of names in the reference, from src/juncture/names.py
	$(BIN)/python tests/house/write_stubs.py

format: $(VENV)/.check  ## rewrite the sources in the house format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:  ## remove everything that the tasks made
	rm -rf $(VENV) $(VENV)-bench $(VENV)-extras $(VENV)-lowest demo docs/_build .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(PIP) uv || true

$(VENV)/.demo: $(SOURCES) | $(BIN)/python
	$(INSTALL) -e .
	@touch $@

# What is installed beside juncture leaves what it needs itself as it is: meanwhile kernels can be compiled.
$(VENV)/.test: $(VENV)/.demo
	$(INSTALL) "juncture[test]"
	@touch $@

$(VENV)/.check: $(VENV)/.demo
	$(INSTALL) "juncture[test,check]"
	@touch $(VENV)/.test $@

$(VENV)/.kernels: $(KERNELS) | $(VENV)/.demo
	$(BIN)/juncture warmup
	@touch $@

$(VENV)-bench/.ready: $(SOURCES)
	$(PYTHON) -m venv $(VENV)-bench
	$(VENV)-bench/bin/python -m pip install --quiet --disable-pip-version-check -e . pyagrum==3.3.1
	@touch $@

$(VENV)-extras/.ready: $(SOURCES) | $(BIN)/python
	$(PYTHON) -m venv $(VENV)-extras
	$(BIN)/uv pip install --quiet --python $(VENV)-extras/bin/python -e ".[test-extras]"
	@touch $@

$(VENV)-lowest/.ready: $(SOURCES) | $(BIN)/python
	$(PYTHON) -m venv $(VENV)-lowest
	$(BIN)/uv pip install --quiet --resolution lowest-direct --python $(VENV)-lowest/bin/python -e ".[test]" "hypothesis>=6.135"
	@touch $@

$(VENV)/.docs: $(VENV)/.demo
	$(INSTALL) "juncture[test,docs]"
	@touch $(VENV)/.test $@

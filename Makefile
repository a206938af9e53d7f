# What a newcomer types. Everything lives in .venv, which is made on first use and renewed when pyproject.toml or
# the locked versions change; second runs start at once.
#
#   make play              play a game of Fog of War chess      (ARGS="--time 2 --black human" passes flags)
#   make board             the same in the browser              (ARGS takes the same flags)
#   make test              the tests, on all cores              (ARGS="tests/klss_app -x" passes arguments)
#   make slow              the tests that take seconds each
#   make browser           the tests of the board in a real browser (chromium)
#   make docs              the site of the documents, in site/
#   make check             ruff, mypy, import-linter, the site, all these tests
#   make release-check     wheel and sdist built and checked, the wheel installed anew and played with
#   make bench             how fast the engine is here, part by part
#   make newest            an install with the newest versions that are allowed, and what other programs rely on
#   make oldest            the same with the lowest versions that pyproject.toml allows
#   make signature         one number for what the engine does  (ARGS=--write renews the expected one)
#   make soak              the long tests
#   make chessground       fetches the vendored board anew from its npm package
#   make clean             removes .venv and those of newest and oldest
#
# PYTHON=python3.12 chooses the interpreter that .venv is made with (3.11 or newer).

PYTHON ?= python3
VENV   ?= .venv
ARGS   ?=

PY   = $(VENV)/bin/python
# Under the constraints at build time too: pip hands the variables on to the environments it builds in.
PIP  = PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 $(PY) -m pip install --quiet

# Compiled tests are kept, if only in .venv, also where the environment asks for none beside the sources: pytest rewrites
# every assertion anew otherwise, in each of its processes.
test slow browser soak: export PYTHONDONTWRITEBYTECODE =
test slow browser soak: export PYTHONPYCACHEPREFIX = $(abspath $(VENV))/pycache

.PHONY: play board chessground test slow browser docs check lint newest oldest release-check bench signature soak clean

play: $(VENV)/installed-play
	@$(PY) -m klss play $(ARGS)

board: $(VENV)/installed-play
	@$(PY) -m klss board $(ARGS)

chessground:
	@.ci/chessground

test: $(VENV)/installed-dev
	@$(PY) -m pytest --numprocesses auto --dist worksteal $(ARGS)

lint: $(VENV)/installed-dev
	@echo "ruff";          $(PY) -m ruff check . && $(PY) -m ruff format --check --quiet .
	@echo "mypy --strict"; $(PY) -m mypy
	@echo "import-linter"; $(VENV)/bin/lint-imports
	@echo "documents";     $(PY) .ci/documents.py

slow: $(VENV)/installed-dev
	@$(PY) -m pytest -m slow --numprocesses auto --dist worksteal $(ARGS)

browser: $(VENV)/installed-dev
	@$(PY) -m pytest -m browser --numprocesses auto --dist worksteal $(ARGS)

docs: $(VENV)/installed-docs
	@echo "the site"; NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build

check: lint docs test slow browser

newest oldest:
	@PYTHON="$(PYTHON)" .ci/contracts $@

release-check:
	@PYTHON="$(PYTHON)" .ci/release_check

bench: $(VENV)/installed-play
	@for part in tracker search evaluator equilibrium suite; do echo "$$part"; $(PY) -m klss bench $$part $(ARGS) || exit 1; done

signature: $(VENV)/installed-play
	@$(PY) -m klss_app.bench.signature $(ARGS)

soak: $(VENV)/installed-dev
	@$(PY) -m pytest -m soak $(ARGS)

clean:
	rm -rf $(VENV) .venv-newest .venv-oldest

# One line where no environment can be made from $(PYTHON), nothing where it can.
PROBLEM = $(shell if command -v $(PYTHON) >/dev/null; then $(PYTHON) .ci/python_problem.py $(PYTHON); else \
    echo "$(PYTHON) is not there: install Python 3.11 or newer, or name one: make PYTHON=/path/to/python3"; fi)

$(PY):
	$(if $(PROBLEM),$(error $(PROBLEM)))
	@echo "Making a virtual environment in $(VENV) with $$($(PYTHON) -V)."
	@$(PYTHON) -m venv $(VENV)

$(VENV)/installed-play: pyproject.toml constraints.txt | $(PY)
	@echo "Installing klss into $(VENV), once: numpy, numba, scipy, highspy, chess, aiohttp and what they need."
	@$(PIP) --editable .
	@touch $@

# An editable install has no hash, so klss itself comes last, built with what is there by then.
$(VENV)/installed-dev: pyproject.toml constraints.txt requirements-dev.txt | $(PY)
	@echo "Installing klss and its test tools into $(VENV), once: the above, open_spiel, dask, pyffish, pytest, hypothesis, ruff, mypy, import-linter."
	@$(PIP) --require-hashes --requirement requirements-dev.txt
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@ $(VENV)/installed-play

$(VENV)/installed-docs: requirements-docs.txt | $(VENV)/installed-dev
	@echo "Installing what the site is built with into $(VENV), once: mkdocs-material, mkdocstrings."
	@$(PIP) --require-hashes --requirement requirements-docs.txt
	@touch $@

# make demo    what it does, on the sample documents (makes .venv, installs the project into it)
# make test    lint, types, walls and all tests
# make lint    the same without the tests
# make soak    the long sweeps
# make dist    wheel and sdist into dist/
# make samples the sample documents again, from tools/samples_src/
# make openapi the document of the HTTP API again, from the routes as they are
# make docs    the output shown in the documents again, from the program as it is
# make clean   everything away that make has made

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip -qq --disable-pip-version-check
CHECKED := src tests tools benchmarks examples

.PHONY: demo test font postgres browser operation lint soak dist samples docs openapi clean
.DEFAULT_GOAL := demo

demo: $(VENV)/.installed
	@$(BIN)/python -m corpus2skill.entrypoints.cli.demo

test: lint font postgres browser operation
	$(BIN)/pytest

# Tests that draw Japanese PDFs need a font, which pip cannot give.
FONT := /usr/share/fonts/opentype/ipafont-gothic/ipag.ttf
font:
	@[ -e $(FONT) ] || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends fonts-ipafont-gothic >/dev/null; } || \
	  echo "No Japanese font (apt install fonts-ipafont-gothic): the tests that draw Japanese PDFs are skipped." >&2

# Tests that keep the server's state in PostgreSQL start a cluster of their own.
postgres:
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql >/dev/null; } || \
	  echo "No PostgreSQL (apt install postgresql): the tests that need one are skipped." >&2

# Tests of the screens drive Debian's Chromium; axe-core says whether everybody can use them. It is no part of the
# project and lies outside it.
CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/corpus2skill-tests
browser:
	@{ command -v chromium && command -v npm && ls /usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc; } >/dev/null 2>&1 || \
	  { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-noto-cjk npm >/dev/null; } || \
	  echo "No browser (apt install chromium fonts-noto-cjk npm): the tests of the screens are skipped." >&2
	@[ -e $(CACHE)/node_modules/axe-core/axe.min.js ] || \
	  { mkdir -p $(CACHE) && npm install --silent --no-audit --no-fund --prefix $(CACHE) axe-core@4 >/dev/null; } || \
	  echo "No axe-core (npm install axe-core): the tests of accessibility are skipped." >&2

# Tests of the example script and of the systemd units.
operation:
	@{ command -v curl && command -v jq && command -v systemd-analyze; } >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends curl jq systemd >/dev/null; } || \
	  echo "No curl, jq or systemd-analyze: the tests that need them are skipped." >&2

lint: $(VENV)/.installed-test
	$(BIN)/ruff check $(CHECKED)
	$(BIN)/ruff format --check $(CHECKED)
	$(BIN)/basedpyright
	$(BIN)/lint-imports

soak: $(VENV)/.installed-test
	$(BIN)/pytest -m soak

dist: $(VENV)/.installed-test
	rm -rf dist
	$(BIN)/python -m build --outdir dist .

samples: $(VENV)/.installed-test
	$(BIN)/python tools/make_samples.py

docs: $(VENV)/.installed-test
	CORPUS2SKILL_UPDATE_DOCS=1 $(BIN)/pytest tests/unit/test_docs.py

openapi: $(VENV)/.installed-test
	PYTHONPATH=. $(BIN)/python tools/write_openapi.py

clean:
	rm -rf $(VENV) .corpus2skill-demo dist build .hypothesis .import_linter_cache .pytest_cache .ruff_cache
	find src tests tools -name __pycache__ -type d -prune -exec rm -rf {} +

# Stamps: nothing is installed again until pyproject.toml changes.

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Python 3.11 or newer is needed; $(PYTHON) is $$($(PYTHON) --version 2>&1). Try: make PYTHON=python3.11" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	  { rm -rf $(VENV); echo "$(PYTHON) cannot make a venv. On Debian or Ubuntu: apt install python3-venv" >&2; exit 1; }

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	@echo "Installing into $(VENV) (once) ..." >&2
	@$(PIP) install -e '.[all]'
	@touch $@

$(VENV)/.installed-test: pyproject.toml | $(VENV)/.installed
	@echo "Installing what the tests need into $(VENV) (once) ..." >&2
	@$(PIP) install -e '.[all,test]'
	@touch $@

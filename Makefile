# make serve | test | bench | fmt | wheel — everything is set up in .venv
PYTHON ?= python3
BIN := .venv/bin
PORT ?= 5006

.PHONY: serve test style types tests bench fmt wheel system screenshots clean

serve: .venv/.ready
	$(BIN)/residual-stream serve --port $(PORT)

# the types beside the tests: the one needs a processor, the others leave some of two
test: style
	$(MAKE) --no-print-directory -j 2 types tests

style: .venv/.ready
	$(BIN)/ruff format --check src tests
	$(BIN)/ruff check src tests
	$(BIN)/residual-stream check

types: .venv/.ready
	$(BIN)/mypy

tests: system
	$(BIN)/pytest -q -n 3 --dist loadfile

bench: system
	$(BIN)/python tests/bench/model.py
	$(BIN)/python tests/bench/page.py
	$(BIN)/python tests/bench/export.py
	$(BIN)/python tests/bench/classroom.py

fmt: .venv/.ready
	$(BIN)/ruff check --fix src tests
	$(BIN)/ruff format src tests

screenshots: system
	$(BIN)/python tests/screenshots.py

wheel: .venv/.ready
	$(BIN)/python -m build --wheel

system: .venv/.ready
	.ci/system

.venv/.ready: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11 …")'
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { echo "$(PYTHON) makes no environments: apt install python3-venv, or make PYTHON=… with one that does" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check -e '.[test]'
	touch $@

clean:
	rm -rf .venv dist build

# Everything a person needs: `make run` and `make test` set up what they need on a fresh machine.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
TOOLS := $(VENV)/.tools
# One more than two processors: much of the time tests wait for a process, a terminal or a timer.
WORKERS ?= 3
EXAMPLES ?= 100000
TESTS ?=

# Compiled modules are kept, whatever the environment says: the tests start the command a thousand times.
export PYTHONDONTWRITEBYTECODE =

.DEFAULT_GOAL := help
.PHONY: help run test check format bench torture screenshots tour properties clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(READY): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(TOOLS): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

run: $(READY) ## open the sample workspace, or a real one with DIR=…
	@$(BIN)/memdeck $(if $(DIR),'$(DIR)',demo)

test: $(TOOLS) ## run the tests, but those that take long; MEMDECK_EXAMPLES=whole runs all
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -q $(TESTS)

check: $(TOOLS) ## format, lint, types, the arrows between the folders, patterns, and whether every test can be collected
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q -p no:cacheprovider tests/test_patterns.py
	@said=$$($(BIN)/python -m pytest --collect-only -qq -p no:cacheprovider 2>&1) || { echo "$$said"; exit 1; }

format: $(TOOLS) ## put the source into its form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

properties: $(TOOLS) ## 100,000 byte strings and 20,000 documents against the lossless promise
	MEMDECK_EXAMPLES=$(EXAMPLES) $(BIN)/python -m pytest -n $(WORKERS) -q --timeout 0 tests/memory/document

torture: $(TOOLS) ## crash, cut the power, fail and cross every change, all bad inputs, hostile workspaces and storms of keys; PARTS="kill errors" selects
	$(BIN)/python -m tests.crash $(PARTS)
	$(if $(PARTS),,MEMDECK_EXAMPLES=whole $(BIN)/python -m pytest -n $(WORKERS) -q tests/memory tests/widgets tests/app/cli)
	$(if $(PARTS),,MEMDECK_CORPUS=all $(BIN)/python -m pytest -n $(WORKERS) -q tests/corpus)
	$(if $(PARTS),,MEMDECK_HOSTILE=all $(BIN)/python -m pytest -n $(WORKERS) -q tests/hostile)
	$(if $(PARTS),,MEMDECK_EXAMPLES=whole MEMDECK_BURSTS=all $(BIN)/python -m pytest -n $(WORKERS) -q tests/app/tui/test_tui_bursts.py tests/terminal/test_left_amid_keys.py tests/app/servers/mcp/test_mcp_fuzz.py)
	$(if $(PARTS),,MEMDECK_CLIENTS=1 $(BIN)/python -m pytest -q -rs tests/app/connect/test_real_clients.py)

bench: $(TOOLS) ## measure against floors and peers; ARGS="command --sizes M L" selects
	$(BIN)/python -m bench $(ARGS)

screenshots: $(TOOLS) ## draw the pictures of the README anew
	$(BIN)/python -m screenshots.make

tour: $(TOOLS) ## record the tour anew, a minute in a real terminal
	$(BIN)/python -m screenshots.tour

clean: ## remove what the other targets made
	rm -rf $(VENV) .venv-3.* .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache build dist

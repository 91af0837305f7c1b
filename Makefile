# Everything that people type. `make help` lists it.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help regen check diff fetch test lint demo bench-quick lock clean

help: ## List what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-12s %s\n", $$1, $$2 }'

$(READY): requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed, found " + sys.version)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	@touch $@

regen: $(READY) ## Write generated/ from the pinned schema
	$(BIN)/python -m codegen regen

check: $(READY) ## Print how generated/ differs from what the schema gives, exit 1 if it does
	$(BIN)/python -m codegen check

diff: $(READY) ## Say what differs from another schema, for whom: make diff BASE=<git ref or folder> [HEAD=<same>] [USER_CODE=<folder>]
	@$(BIN)/python -m codegen diff --base "$(BASE)" $(if $(HEAD),--head "$(HEAD)") $(if $(FORMAT),--format "$(FORMAT)") $(if $(FAIL_ON),--fail-on "$(FAIL_ON)") $(if $(USER_CODE),--user-code "$(USER_CODE)")

fetch: $(READY) ## Pin another schema: make fetch FROM=npm:@agentclientprotocol/sdk@<version> or FROM=<folder>
	$(BIN)/python -m codegen fetch "$(FROM)"

test: $(READY) ## Run the tests
	$(BIN)/python -m pytest -q

lint: $(READY) ## Check style and types of everything hand-written, and the types of what is generated
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy
	$(BIN)/python -m pyright

demo: $(READY) ## Show the terminal client talking to the fuller example agent
	$(BIN)/python examples/terminal_client.py --yes --say "hello from the demo" --say "read $(CURDIR)/README.md" --say "count 5" \
		$(BIN)/python examples/full_agent.py

bench-quick: $(READY) ## Measure what importing costs, against bare pydantic
	$(BIN)/python -m benchmarks.startup

lock: $(READY) ## Write requirements.txt anew from pyproject.toml
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/python -m uv pip compile --universal --python-version 3.11 --generate-hashes --no-annotate --no-emit-index-url --no-header --group dev --output-file requirements.txt

clean: ## Remove what these commands made beside generated/
	rm -rf $(VENV) dist build .pytest_cache .ruff_cache .mypy_cache .hypothesis

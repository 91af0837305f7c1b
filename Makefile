# The commands of the project. `make help` lists them.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PYTEST := -m pytest -q --numprocesses auto --dist loadgroup --no-loadscope-reorder
LINTERS := lint-types lint-pages lint-ruff lint-format lint-mypy lint-pyright lint-zizmor lint-workflows lint-dependabot lint-issue-forms lint-spelling
# `make test-pydantic` uses this version of pydantic: by default the lowest that pyproject.toml allows.
PYDANTIC ?= 2.12.0
OTHER := build/pydantic-$(PYDANTIC)

# The tests start hundreds of processes. Without cached bytecode, each would compile everything that it imports.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help regen check diff api-changes docs docs-links fetch upgrade test test-quick test-frameworks test-pydantic stress coverage lint $(LINTERS) demo bench bench-quick bench-report names-page which-sdk crater build check-dist lock clean

help: ## List the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-13s %s\n", $$1, $$2 }'

# These commands print only to stderr, because the stdout of `make diff` may be redirected to a file.
$(READY): requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed, found " + sys.version)'
	@echo "Creating $(VENV) from requirements.txt" >&2
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes --requirement requirements.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps --editable .
	@touch $@

regen: $(READY) ## Write generated/ from the pinned schema
	$(BIN)/python -m codegen regen

check: $(READY) ## Print how generated/ differs from what regen would write; exit 1 if it does
	$(BIN)/python -m codegen check

diff: $(READY) ## Report what changed since another commit, and for whom: make diff BASE=<git ref or folder> [HEAD=<same>] [FAIL_ON=wire] [USER_CODE=<folder>]
	@$(BIN)/python -m codegen diff --base "$(BASE)" $(if $(HEAD),--head "$(HEAD)") $(if $(FORMAT),--format "$(FORMAT)") $(if $(FAIL_ON),--fail-on "$(FAIL_ON)") $(if $(USER_CODE),--user-code "$(USER_CODE)")

api-changes: $(READY) ## List what breaks since another commit for users of runtime and kit: make api-changes BASE=<git ref>
	@$(BIN)/python -m tools.python_api "$(BASE)"

docs: $(READY) ## Build the documentation site in build/docs; a broken link or another warning fails
	rm -rf build/docs
	$(BIN)/python -m codegen reference docs/reference/protocol
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --jobs auto docs build/docs

docs-links: $(READY) ## Check that the pages that the documentation links on other hosts exist (needs the internet)
	$(BIN)/python -m codegen reference docs/reference/protocol
	$(BIN)/python -m sphinx --quiet --builder linkcheck --jobs auto docs build/docs-links

# $$FROM, $$REPORT and $$TAG are read from the environment, because make would expand a $$ in their values.
fetch: $(READY) ## Pin another schema: make fetch FROM=npm:@agentclientprotocol/sdk@<version> or <folder>
	$(BIN)/python -m codegen fetch "$$FROM"

upgrade: $(READY) ## Adopt another schema, up to the commit: make upgrade FROM=npm:@agentclientprotocol/sdk@<version> [REPORT=<folder>]
	@$(BIN)/python -m codegen upgrade "$$FROM" $(if $(REPORT),--report "$$REPORT")

test: $(READY) ## Run all tests on all cores
	$(BIN)/python $(PYTEST)

test-quick: $(READY) ## Run the fast tests of models, runtime and generator, after an edit; stops after ten failures
	$(BIN)/python $(PYTEST) --maxfail 10 -m "not slow" tests/runtime tests/generated tests/codegen

test-frameworks: $(READY) ## Run the agents in the guides to frameworks, which are installed first (some minutes)
	$(BIN)/python -m pytest -q tests/docs/framework_agents.py

test-pydantic: $(OTHER)/.ready ## Run the tests of models and runtime with another pydantic: make test-pydantic PYDANTIC=2.12.5 [TESTS=tests/generated]
	$(OTHER)/bin/python -c 'import pydantic; print("pydantic", pydantic.VERSION)'
	$(OTHER)/bin/python $(PYTEST) $(or $(TESTS),tests/generated tests/runtime)

# This environment has its own pydantic and pydantic's dependencies. It finds everything else in .venv.
$(OTHER)/.ready: $(READY)
	$(BIN)/python -m venv --clear --without-pip $(OTHER)
	$(BIN)/python -m pip --python $(OTHER)/bin/python install --quiet --no-compile $(if $(filter pre,$(PYDANTIC)),--pre pydantic,pydantic==$(PYDANTIC))
	$(OTHER)/bin/python tools/borrow_packages.py $(CURDIR)/$(VENV)
	@touch $@

stress: $(READY) ## Run the stress tests at full size (an hour)
	ACP_STRESS=1 $(BIN)/python $(PYTEST) -m stress --timeout 3600

coverage: $(READY) ## Print the lines and branches of codegen/ and runtime/ that the tests miss: make coverage [TESTS=tests/runtime]
	rm -rf build/coverage && mkdir -p build/coverage
	$(BIN)/python -m coverage run $(PYTEST) $(TESTS) || failed=$$?; \
	$(BIN)/python -m coverage combine --quiet && $(BIN)/python -m coverage report && exit $${failed:-0}

lint: $(READY) ## Check style, types, workflows and issue forms; run all tools, then fail if one of them failed
	@$(MAKE) --no-print-directory --keep-going --jobs 2 $(if $(filter output-sync,$(.FEATURES)),--output-sync) $(LINTERS)

lint-ruff: $(READY)
	$(BIN)/python -m ruff check .

lint-format: $(READY)
	$(BIN)/python -m ruff format --check .

lint-mypy: $(READY)
	$(BIN)/python -m mypy

lint-pyright: $(READY)
	$(BIN)/python -m pyright

lint-types: $(READY)
	$(BIN)/python -m pytest -q tests/typing/public_types.py tests/typing/old_names.py tests/typing/windows.py

lint-pages: $(READY)
	$(BIN)/python -m pytest -q tests/docs/page_types.py

lint-zizmor: $(READY)
	$(BIN)/zizmor --quiet --offline --persona pedantic .github

lint-workflows: $(READY)
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml

lint-dependabot: $(READY)
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.dependabot .github/dependabot.yml

lint-issue-forms: $(READY)
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/bug.yml .github/ISSUE_TEMPLATE/feature.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml

lint-spelling: $(READY)
	$(BIN)/python -m codespell_lib

demo: $(READY) ## Run the terminal client with the full example agent
	$(BIN)/python examples/terminal_client.py --yes --say "hello from the demo" --say "read $(CURDIR)/README.md" --say "count 5" \
		$(BIN)/python examples/full_agent.py

bench: $(READY) ## Compare with the official SDKs in all benchmarks, into build/bench.json (40 minutes; needs Node)
	$(BIN)/python -m benchmarks --json build/bench.json

bench-quick: $(READY) ## Run short benchmarks in less than a minute, without the official SDKs
	$(BIN)/python -m benchmarks --no-peers --rounds 3 --scale 0.05

bench-report: $(READY) ## Write docs/project/performance.md from the results of `make bench`
	$(BIN)/python -m benchmarks.report build/bench.json

names-page: $(READY) ## Write docs/moving-names.md: the names of the official Python SDK, and what they are here (needs a registry)
	$(BIN)/python -m tests.support.migration.names_page

which-sdk: $(READY) ## Measure what this package and the official Python SDK do, write the table of docs/which-sdk.md (needs a registry)
	$(BIN)/python -m benchmarks.behaviour

crater: $(READY) ## Move other people's projects with acp_migrate, run their tests before and after, write the table of docs/moving.md (half an hour)
	$(BIN)/python -m benchmarks.crater $(PROJECTS)

build: $(READY) ## Write the sdist and the wheel to dist/
	rm -rf dist
	$(BIN)/python -m build --no-isolation

check-dist: ## Check the wheel in dist/ in an environment with nothing else: make check-dist [TAG=v<version>] [PYTHON=python3.14]
	$(PYTHON) -m venv --clear --without-pip build/bare
	$(or $(wildcard $(BIN)/python),$(PYTHON)) -m pip --python build/bare/bin/python install --quiet --disable-pip-version-check dist/*.whl
	build/bare/bin/python -I tests/published.py "$$TAG"

# This doesn't use .venv, which can't be created while requirements.txt lacks a dependency of the build.
lock: ## Write requirements.txt from pyproject.toml: make lock [UPGRADE=1, to versions that are a week old]
	$(PYTHON) -m venv --clear build/lock
	build/lock/bin/python -m pip install --quiet --disable-pip-version-check uv
	build/lock/bin/python -m uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-emit-index-url --no-header $(if $(UPGRADE),--upgrade --exclude-newer "7 days") --group dev --output-file requirements.txt

clean: ## Remove everything that these commands create, except generated/
	rm -rf $(VENV) dist build .pytest_cache .ruff_cache .mypy_cache .hypothesis

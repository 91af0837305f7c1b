# The commands of the project. `make help` lists them.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# These files say that the packages of requirements/*.txt are in .venv. Each includes those of the one before.
CODEGEN := $(VENV)/.codegen
TEST := $(VENV)/.test
DEV := $(VENV)/.dev
UV := $(shell command -v uv)
INSTALL := $(if $(UV),$(UV) pip install --quiet --python $(BIN)/python,$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile)
PYTEST := -m pytest -q --numprocesses auto --dist loadgroup --no-loadscope-reorder
LINTERS := lint-types lint-pages lint-ruff lint-format lint-mypy lint-pyright lint-zizmor lint-workflows lint-dependabot lint-issue-forms lint-spelling
# `make test-pydantic` uses this version of pydantic: by default the lowest that pyproject.toml allows.
PYDANTIC ?= 2.12.0
OTHER := build/pydantic-$(PYDANTIC)

# The tests start hundreds of processes. Without cached bytecode, each would compile everything that it imports.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help regen check diff api-changes docs specification command-line fetch upgrade test-quick test test-all test-pydantic stress coverage mutants lint $(LINTERS) demo bench bench-quick crater build check-dist lock clean

help: ## List the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{ printf "  make %-17s %s\n", $$1, $$2 }'

# These commands print only to stderr, because the stdout of `make diff` may be redirected to a file.
$(CODEGEN): requirements/codegen.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed, found " + sys.version)'
	@echo "Installing requirements/codegen.txt into $(VENV)" >&2
	@test -e $(BIN)/pip || $(if $(UV),$(UV) venv --quiet --seed --allow-existing --python $(PYTHON),$(PYTHON) -m venv) $(VENV)
	@$(INSTALL) --require-hashes --requirement requirements/codegen.txt
	@$(INSTALL) --no-build-isolation --no-deps --editable .
	@touch $@

$(TEST): requirements/test.txt | $(CODEGEN)
$(DEV): requirements/dev.txt | $(TEST)
$(TEST) $(DEV):
	@echo "Installing $< into $(VENV)" >&2
	@$(INSTALL) --require-hashes --requirement $<
	@touch $@

regen: $(CODEGEN) ## Write generated/ from the pinned schema
	$(BIN)/python -m codegen regen

check: $(CODEGEN) ## Print how generated/ differs from what regen would write; exit 1 if it does
	$(BIN)/python -m codegen check

diff: $(if $(USER_CODE),$(TEST),$(CODEGEN)) ## Report what changed since another commit, and for whom: make diff BASE=<git ref or folder> [HEAD=<same>] [FAIL_ON=wire] [USER_CODE=<folder>]
	@$(BIN)/python -m codegen diff --base "$(BASE)" $(if $(HEAD),--head "$(HEAD)") $(if $(FORMAT),--format "$(FORMAT)") $(if $(FAIL_ON),--fail-on "$(FAIL_ON)") $(if $(USER_CODE),--user-code "$(USER_CODE)")

api-changes: $(TEST) ## List what breaks since another commit for users of runtime and kit: make api-changes BASE=<git ref>
	@$(BIN)/python -m tools.python_api "$(BASE)"

docs: $(DEV) ## Build the site in build/docs; a broken link or another warning fails. Check the links to other hosts: make docs BUILDER=linkcheck
	rm -rf build/docs
	$(BIN)/python -m codegen reference docs/reference/protocol
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --jobs auto --builder $(or $(BUILDER),html) docs build/docs

specification: $(TEST) ## Write docs/reference/specification.md from tools/specification/statements.toml
	$(BIN)/python -m tools.specification

command-line: $(TEST) ## Write docs/reference/command-line.md from the parsers of the commands
	$(BIN)/python -m tools.command_line

# $$FROM, $$REPORT and $$TAG are read from the environment, because make would expand a $$ in their values.
fetch: $(CODEGEN) ## Pin another schema: make fetch FROM=npm:@agentclientprotocol/sdk@<version> or <folder>
	$(BIN)/python -m codegen fetch "$$FROM"

upgrade: $(TEST) ## Adopt another schema, up to the commit: make upgrade FROM=npm:@agentclientprotocol/sdk@<version> [REPORT=<folder>]
	@$(BIN)/python -m codegen upgrade "$$FROM" $(if $(REPORT),--report "$$REPORT")

test-quick: $(TEST) ## Run the fast tests of models, runtime and generator, after an edit; stops after ten failures. Others: make test-quick TESTS=tests/kit
	$(BIN)/python $(PYTEST) --maxfail 10 -m "not slow and not test_all" $(or $(TESTS),tests/runtime tests/generated tests/codegen)

test: $(TEST) ## Run all tests that need no other SDK, no npm and no server
	$(BIN)/python $(PYTEST) -m "not test_all"

test-all: test $(DEV) ## Run the other tests as well (they need Node and Chromium, and install SDKs and frameworks first)
	$(BIN)/python $(PYTEST) -m test_all

test-pydantic: $(OTHER)/.ready ## Run the tests of models and runtime with another pydantic: make test-pydantic PYDANTIC=2.12.5 [TESTS=tests/generated]
	$(OTHER)/bin/python -c 'import pydantic; print("pydantic", pydantic.VERSION)'
	$(OTHER)/bin/python $(PYTEST) $(or $(TESTS),-m "not test_all" tests/generated tests/runtime)

# This environment has its own pydantic and pydantic's dependencies. It finds everything else in .venv.
$(OTHER)/.ready: $(TEST)
	$(BIN)/python -m venv --clear --without-pip $(OTHER)
	$(BIN)/python -m pip --python $(OTHER)/bin/python install --quiet --no-compile $(if $(filter pre,$(PYDANTIC)),--pre pydantic,pydantic==$(PYDANTIC))
	$(OTHER)/bin/python tools/borrow_packages.py $(CURDIR)/$(VENV)
	@touch $@

stress: $(DEV) ## Run the stress tests at full size (an hour)
	ACP_STRESS=1 $(BIN)/python $(PYTEST) -m stress --timeout 3600

coverage: $(DEV) ## Print the lines and branches of codegen/ and runtime/ that the tests miss: make coverage [TESTS=tests/runtime]
	rm -rf build/coverage && mkdir -p build/coverage
	$(BIN)/python -m coverage run $(PYTEST) $(TESTS) || failed=$$?; \
	$(BIN)/python -m coverage combine --quiet && $(BIN)/python -m coverage report && exit $${failed:-0}

mutants: $(TEST) ## Change the code in one small place at a time; list what no test notices: make mutants [FOLDERS=codegen/read] [SAMPLE=100] [SEED=1] [JOBS=2]
	nice $(BIN)/python -m tools.mutants $(FOLDERS) $(if $(SAMPLE),--sample $(SAMPLE)) $(if $(SEED),--seed $(SEED)) $(if $(JOBS),--jobs $(JOBS)) $(if $(FOLDERS),,--page)

lint: $(DEV) ## Check style, types, workflows and issue forms; run all tools, then fail if one of them failed
	@$(MAKE) --no-print-directory --keep-going --jobs 2 $(if $(filter output-sync,$(.FEATURES)),--output-sync) $(LINTERS)

lint-ruff: $(DEV)
	$(BIN)/python -m ruff check .

lint-format: $(DEV)
	$(BIN)/python -m ruff format --check .

lint-mypy: $(DEV)
	$(BIN)/python -m mypy

lint-pyright: $(DEV)
	$(BIN)/python -m pyright

lint-types: $(DEV)
	$(BIN)/python -m pytest -q tests/typing/public_types.py tests/typing/old_names.py tests/typing/windows.py

lint-pages: $(DEV)
	$(BIN)/python -m pytest -q tests/docs/page_types.py

lint-zizmor: $(DEV)
	$(BIN)/zizmor --quiet --offline --persona pedantic .github

lint-workflows: $(DEV)
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml

lint-dependabot: $(DEV)
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.dependabot .github/dependabot.yml

lint-issue-forms: $(DEV)
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/bug.yml .github/ISSUE_TEMPLATE/feature.yml
	$(BIN)/check-jsonschema --quiet --builtin-schema vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml

lint-spelling: $(DEV)
	$(BIN)/python -m codespell_lib

demo: $(CODEGEN) ## Run the terminal client with the full example agent
	$(BIN)/python examples/terminal_client.py --yes --say "hello from the demo" --say "read $(CURDIR)/README.md" --say "count 5" \
		$(BIN)/python examples/full_agent.py

bench: $(DEV) ## Compare with the official SDKs in all benchmarks, and write docs/project/performance.md (15 to 40 minutes; needs Node)
	$(BIN)/python -m benchmarks --json build/bench.json
	$(BIN)/python -m benchmarks.report build/bench.json

bench-quick: $(DEV) ## Run short benchmarks in less than a minute, without the official SDKs
	$(BIN)/python -m benchmarks --no-peers --rounds 3 --scale 0.05

crater: $(DEV) ## Run the tests of other people's projects on acp_kit.official: make crater [PROJECTS='<name> ...'], and write docs/project/official-projects.md (half an hour)
	$(BIN)/python -m benchmarks.crater $(PROJECTS)

build: $(TEST) ## Write the sdist and the wheel to dist/
	rm -rf dist
	$(BIN)/python -m build --no-isolation

check-dist: ## Check the wheel in dist/ in an environment with nothing else: make check-dist [TAG=v<version>] [PYTHON=python3.14]
	$(PYTHON) -m venv --clear --without-pip build/bare
	$(or $(wildcard $(BIN)/python),$(PYTHON)) -m pip --python build/bare/bin/python install --quiet --disable-pip-version-check dist/*.whl
	build/bare/bin/python -I tests/published.py "$$TAG"

# This doesn't use .venv, which can't be created while requirements/ lacks a dependency of the build.
LOCK := $(or $(UV),build/lock/bin/uv) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-emit-index-url --no-header
lock: ## Write requirements/ from pyproject.toml: make lock [UPGRADE=1, to versions that are a week old]
	$(if $(UV),,$(PYTHON) -m venv --clear build/lock)
	$(if $(UV),,build/lock/bin/python -m pip install --quiet --disable-pip-version-check uv)
	$(LOCK) $(if $(UPGRADE),--upgrade --exclude-newer "7 days") --group dev --output-file requirements/dev.txt
	$(LOCK) --constraint requirements/dev.txt --group test --output-file requirements/test.txt
	$(LOCK) --constraint requirements/dev.txt --group codegen --output-file requirements/codegen.txt

clean: ## Remove everything that these commands create, except generated/
	rm -rf $(VENV) dist build .pytest_cache .ruff_cache .mypy_cache .hypothesis

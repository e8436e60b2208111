# Everything a clone needs: each target sets up what it uses, and a second call is quick.

PYTHON ?= python3
BIN := .venv/bin
RUST := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock

LOCK := requirements-dev.txt

# Tests and rustdoc start programs that would look for this make's job slots and could not reach them.
ALONE := env -u MAKEFLAGS -u MFLAGS
PYTEST := $(ALONE) $(BIN)/pytest --quiet
BESIDE_EACH_OTHER := --numprocesses auto --dist worksteal
STEP := @$(PYTHON) .ci/steps.py run

# A profile-guided build takes the tool of rustc's LLVM that merges profiles. With another LLVM's on the PATH, new enough to read
# them: PGO=--pgo.
PGO = $(if $(wildcard $(shell rustc --print sysroot)/lib/rustlib/*/bin/llvm-profdata),--pgo)
PGO_HINT = $(if $(PGO),,@echo "make: no profile-guided build: rustup component add llvm-tools" >&2)

# Without these the module has no BPF programs; then it is built again when Debian's packages have changed. Said once, by the make
# that was asked for, and not by those that it starts.
BPF_LACKS = $(if $(BPF_CLANG),true,$(BIN)/python -m parshall.foundations.debian clang bpf_helpers.h)
BPF_HINT = $(if $(filter 0,$(MAKELEVEL)),@$(BPF_LACKS) || true)
WITHOUT_BPF := .venv/.without-bpf

.PHONY: help setup lock demo test test-rust test-python test-slow test-random test-studies packetdrill build-rust-tests check check-all
.PHONY: check-emulation check-beside check-python lint types docs docs-tables docs-site docs-crates bench bench-emulation
.PHONY: simulator fuzz fuzz-build fuzz-briefly fuzz/seeds/scenario wheel release clean

help: ## What can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: .venv/.ready ## The environment (.venv) with Parshall and all tools in it
	$(BPF_HINT)

.venv/bin/maturin: $(LOCK)
	@command -v cargo >/dev/null || { echo "make: Rust is needed: https://rustup.rs" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(STEP) install-packages $(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --requirement $(LOCK)
	@touch $@

.venv/.ready: .venv/bin/maturin pyproject.toml $(RUST) $(wildcard bpf/*) $(if $(wildcard $(WITHOUT_BPF)),$(wildcard /var/lib/dpkg/status))
	$(STEP) build-module env PIP_QUIET=1 VIRTUAL_ENV=$(CURDIR)/.venv $(BIN)/maturin develop --release --quiet --locked
	@rm -f $(WITHOUT_BPF)
	@$(BPF_LACKS) 2> /dev/null || touch $(WITHOUT_BPF)
	@touch $@

lock: ## requirements-dev.txt: the newest versions that pyproject.toml accepts, with hashes (needs uv)
	uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --upgrade --quiet \
		--generate-hashes --no-emit-index-url --custom-compile-command "make lock" --output-file $(LOCK)

demo: setup ## Run the quick-start scenario, and say where its page is
	$(BIN)/parshall run scenarios/quickstart.toml --output runs/demo --force

# --- tests ---

test: ## The quick tests of both languages
	@$(MAKE) --no-print-directory --jobs 2 test-rust test-python

# Examples are not built for it, as clippy looks at them.
RUST_TESTS := --workspace --locked --quiet --lib --bins --tests

test-rust:
	$(STEP) test-rust $(ALONE) sh -c 'cargo test $(RUST_TESTS) && cargo test --workspace --locked --quiet --doc'

build-rust-tests:
	$(STEP) build-rust-tests cargo test $(RUST_TESTS) --no-run

test-python: setup
	$(PYTEST) $(BESIDE_EACH_OTHER) -m "not slow"

test-slow: setup ## The slow tests: emulations, sweeps that are killed, long simulations, guides, studies
	$(PYTEST) $(BESIDE_EACH_OTHER) -m slow

test-random: setup ## A thousand random scenarios and five hundred invalid ones, of which `test` has a part
	$(STEP) test-random env PARSHALL_SCENARIOS=1000 PARSHALL_PAGE_IN=1 $(PYTEST) $(BESIDE_EACH_OTHER) tests/robustness/test_random_scenarios.py

test-studies: setup ## All studies at their shortest scale, simulated; their pages are in build/studies
	$(STEP) test-studies sh -ec 'for study in $(STUDIES); do \
		$(BIN)/parshall study $$study --quiet --force --output build/studies/$$study > /dev/null; done'

STUDIES = $(shell $(BIN)/python -c "from parshall.studies.catalog import STUDIES; print(*(each.name for each in STUDIES))")

packetdrill: ## Scripts of packetdrill below SCRIPTS=DIR against our sender and receiver
	@cargo run --quiet --locked --package parshall-tcp --example packetdrill -- "$(SCRIPTS)"

# --- the two checks ---

# `make check` selects the quick tests, and of the slow ones one of each kind; `make check-all` selects all.
check: WHICH := not slow or gate
check: FIRST := lint types docs-tables
check: THEN := test-rust check-python
check: ## What CI runs: lints, types, quick tests, one emulation and one kill of each kind
	@$(CHECK)

check-all: WHICH := slow or not slow
check-all: FIRST := lint types docs-tables docs-site docs-crates wheel
check-all: THEN := test-rust check-python test-random test-studies fuzz-briefly
check-all: ## Everything: all tests, the site, the crates' documentation, the wheel, random scenarios, fuzzing
	@$(CHECK)

define CHECK
rm -f build/steps.jsonl
$(MAKE) --no-print-directory --jobs 2 --output-sync=target setup build-rust-tests && \
$(MAKE) --no-print-directory --jobs 3 --output-sync=target check-emulation check-beside WHICH="$(WHICH)" FIRST="$(FIRST)" THEN="$(THEN)"; \
status=$$?; $(PYTHON) .ci/steps.py table $@ && exit $$status
endef

# An emulation needs a processor at once and leaves it idle most of the time: everything else runs beside it, and gives way to it.
check-emulation: setup
	$(STEP) emulations $(PYTEST) tests/emulation -m "$(WHICH)"

check-beside: setup
	@nice -n 19 $(MAKE) --no-print-directory $(FIRST)
	@nice -n 19 $(MAKE) --no-print-directory $(THEN)

check-python: setup
	$(STEP) test-python $(PYTEST) $(BESIDE_EACH_OTHER) --ignore tests/emulation -m "$(WHICH)"

lint: setup ## Formatting and lints of both languages
	$(STEP) lint sh -ec '$(LINTS)'

# The fuzzers are no members of the workspace: their lock file may be behind without anything else noticing.
LINTS := cargo fmt --all --check; \
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings; \
	cargo metadata --manifest-path fuzz/Cargo.toml --locked --format-version 1 > /dev/null; \
	$(BIN)/ruff format --check .; \
	$(BIN)/ruff check .; \
	$(BIN)/lint-imports --no-cache --no-logo

types: setup ## Types of the Python code
	$(STEP) types $(BIN)/mypy

docs: setup ## The guides' generated tables brought up to date, the site (build/docs/html), the crates' documentation
	$(BIN)/python -m tools.documentation
	@$(MAKE) --no-print-directory docs-site docs-crates
	@echo "page:    $(CURDIR)/build/docs/html/index.html"

docs-tables: setup
	$(STEP) docs-tables $(BIN)/python -m tools.documentation --check

# The simulator in a page (`parshall explore --offline`). A page waits for its download, so it is built as small and quick as it goes.
SIMULATOR := python/parshall/explore/assets/simulator.wasm.gz
WEB := --profile web --target wasm32-unknown-unknown --package parshall-web

simulator: $(SIMULATOR) ## The simulator as WebAssembly (once before: rustup target add wasm32-unknown-unknown)

$(SIMULATOR): $(RUST)
	$(STEP) simulator cargo build --quiet --locked $(WEB)
	gzip -9 --no-name --stdout target/wasm32-unknown-unknown/web/parshall_web.wasm > $@.new && mv $@.new $@

docs-site: setup $(SIMULATOR)
	$(STEP) docs-site $(BIN)/sphinx-build --builder html --conf-dir docs --fail-on-warning --keep-going --quiet . build/docs/html
	@touch build/docs/.complete

docs-crates:
	$(STEP) docs-crates env RUSTDOCFLAGS="-D warnings -A rustdoc::private_intra_doc_links" \
		cargo doc --workspace --no-deps --document-private-items --locked --quiet

# The environment with Parshall as a wheel has it, until something in Rust changes.
.venv/.profiled: .venv/.ready benches/training.py benches/digests.py
	$(PGO_HINT)
	$(if $(PGO),PIP_QUIET=1 VIRTUAL_ENV=$(CURDIR)/.venv $(BIN)/maturin develop --release $(PGO) --quiet --locked)
	@touch $@

bench: .venv/.profiled ## What is timed, against what; then bench-emulation
	$(BIN)/python benches/run.py; timed=$$?; $(MAKE) --no-print-directory bench-emulation && exit $$timed

bench-emulation: setup ## What emulations keep of their scenarios, how much this machine emulates, and the kernel's shapers
	$(BIN)/python benches/emulation.py

# SanitizerCoverage, as cargo-fuzz asks for it, in all crates but build scripts (hence the named target).
# One for each reader of the list.
FUZZ_TARGETS := $(shell sed -n 's/^    [A-Za-z]* = "\([a-z_]*\)" {.*/\1/p' crates/reading/src/readers.rs)
FUZZ_SECONDS := 600
FUZZ_TRIPLE := $(shell rustc -vV | sed -n 's/^host: //p')
FUZZ_FLAGS := --cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
	-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
	-Cllvm-args=-sanitizer-coverage-trace-compares

fuzz: $(addprefix fuzz-,$(FUZZ_TARGETS)) ## Coverage-guided fuzzing, FUZZ_SECONDS a target (fuzz/README.md)

fuzz/seeds/%:
	@mkdir -p fuzz/seeds && ln -sfn ../corpus/$* $@

fuzz/seeds/scenarios: setup
	$(BIN)/python fuzz/seeds.py $@

fuzz-build:
	cd fuzz && RUSTFLAGS="$(FUZZ_FLAGS)" cargo build --release --locked --quiet --target $(FUZZ_TRIPLE)

fuzz-briefly: ## Ten thousand executions of each target, as `check-all` does
	$(STEP) fuzz $(ALONE) $(MAKE) --no-print-directory fuzz FUZZ_OPTIONS="-runs=10000 -print_final_stats=0 -verbosity=0"

fuzz-%: fuzz/seeds/% fuzz-build
	@mkdir -p fuzz/found/$* fuzz/artifacts/$*
	READER=$* fuzz/target/$(FUZZ_TRIPLE)/release/reader fuzz/found/$* fuzz/seeds/$* -dict=fuzz/dictionaries/$* \
		-artifact_prefix=fuzz/artifacts/$*/ -max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 \
		-print_final_stats=1 $(FUZZ_OPTIONS)

wheel: setup $(SIMULATOR) ## dist/: an abi3 wheel that needs no compiler where it is installed
	$(PGO_HINT)
	$(STEP) wheel env VIRTUAL_ENV=$(CURDIR)/.venv $(BIN)/maturin build --release $(PGO) --quiet --locked --out dist

release: setup $(SIMULATOR) ## dist/: wheel and source distribution, if Cargo.toml, CITATION.cff and CHANGELOG.md name one version
	$(BIN)/python .ci/release.py
	rm -rf dist
	VIRTUAL_ENV=$(CURDIR)/.venv $(BIN)/maturin build --release --pgo --locked --out dist
	$(BIN)/maturin sdist --out dist

clean: ## Remove what was built, but no results
	rm -rf .venv build dist target

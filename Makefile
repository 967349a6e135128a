# Every target makes the virtual environment that it needs; a second call installs nothing again.
#   make demo     train a digit recogniser        make quick        lint and the core's tests, under a minute
#   make test     the tests                       make lint         ruff, mypy, import-linter
#   make test-all with the big matrices           make docs-check   run the README's and the documents' examples
#   make docs     the documentation, build/docs/index.html
#   make test-browser  the explorer and the documentation in headless Chromium, which must be installed
#   make test-distributed  ranks of MPI and workers of Ray, in an environment of their own
#   make bench    the benchmarks                  make test-oracle  compare with PyTorch, in its own environment
#   make test-array-api  the Array API standard's public suite: a clone of it, or ARRAY_API_TESTS=a checkout
# Set PYTHON to use another Python, in an environment of its own (make test PYTHON=python3.14), VENV to use another environment,
# ARGUMENTS to pass more to pytest or to the demo.

VENV ?= .venv$(if $(filter command environment,$(origin PYTHON)),-$(notdir $(PYTHON)))
ORACLE_VENV ?= .venv-oracle
DISTRIBUTED_VENV ?= .venv-distributed
ARGUMENTS ?=
PYTHON ?= $(firstword $(foreach name,python3 python3.14 python3.13 python3.12 python3.11,\
	$(shell $(name) -c 'import sys; sys.version_info >= (3, 11) and print("$(name)")' 2>/dev/null)))

# Bytecode is kept: the tests start some 200 Pythons, and each would compile the package anew.
unexport PYTHONDONTWRITEBYTECODE

# Tests run in so many processes, whole files each: ARGUMENTS=-n0 for one, as a debugger needs it.
PROCESSES ?= 2
PYTEST := $(VENV)/bin/python -m pytest -n $(PROCESSES) --dist loadfile --no-loadscope-reorder
ORACLE_PYTEST := $(ORACLE_VENV)/bin/python -m pytest -n $(PROCESSES) --dist loadfile --no-loadscope-reorder

# The tests that train, compile much, start processes, check one solver or page, or run a loop long enough to see what it leaks.
QUICK_WITHOUT := acceptance bands budget checkpoint commands custom_rules documents erased* estimators examples explorer factors hostile_files \
  interrupts jets jit_interrupts jit_mutations least_squares lists_of_tensors live loading loop* machine memory native* notebooks \
  out_of_memory padded playground plot project random_loops reference relatives repeated reroll resume rules_in_loops sample scipy \
  sequences small_matrices solvers special* stages stats stepping threads tiers torch_views train transformations_compose \
  written_out

# data-apis/array-api-tests at this commit. ARRAY_API_TESTS may name a checkout that is there already, its submodule included.
ARRAY_API_TESTS ?= build/array-api-tests
ARRAY_API_COMMIT := 55fcc60179efa2680ddd6cd926ddf17b83530e2b

.DELETE_ON_ERROR:
.PHONY: help demo test quick test-all test-distributed test-oracle test-array-api test-browser lint format docs docs-check bench native wheel clean

help:
	@sed -n 's/^#   //p' Makefile

demo: $(VENV)/.installed-train $(VENV)/.tried-draw
	$(VENV)/bin/adjoint train mnist-mlp $(ARGUMENTS)

test: $(VENV)/.installed-test
	$(PYTEST) $(ARGUMENTS)

quick: $(VENV)/.installed-dev
	$(VENV)/bin/ruff check
	$(PYTEST) -q -x --hypothesis-profile=quick $(QUICK_WITHOUT:%=--ignore-glob=tests/*/test_%.py) $(ARGUMENTS)

test-all: $(VENV)/.installed-test
	$(PYTEST) -m "not oracle and not browser" --hypothesis-profile=whole $(ARGUMENTS)
	for backend in numpy native; do ADJOINT_BACKEND=$$backend $(PYTEST) -q $(ARGUMENTS) || exit 1; done
	for bits in 128 256; do \
		ADJOINT_BACKEND=native ADJOINT_VECTOR_BITS=$$bits $(PYTEST) -q $(ARGUMENTS) || exit 1; done

# Every operator of PyTorch's, not every eighth: ARGUMENTS="-m oracle".
test-oracle: $(ORACLE_VENV)/.installed-oracle
	$(ORACLE_PYTEST) -m "oracle and not slow" $(ARGUMENTS)

test-array-api: $(VENV)/.installed-standard $(ARRAY_API_TESTS)/array_api_tests
	cd $(ARRAY_API_TESTS) && ARRAY_API_TESTS_MODULE=adjoint $(abspath $(VENV))/bin/python -m pytest -q --max-examples 20 \
		-p no:cacheprovider --rootdir . --skips-file=$(CURDIR)/tests/arrays/array_api_skips.txt array_api_tests $(ARGUMENTS)

$(ARRAY_API_TESTS)/array_api_tests:
	git clone --quiet https://github.com/data-apis/array-api-tests $(ARRAY_API_TESTS)
	git -C $(ARRAY_API_TESTS) checkout --quiet $(ARRAY_API_COMMIT)
	git -C $(ARRAY_API_TESTS) submodule --quiet update --init

test-browser: $(VENV)/.installed-browser build/docs/index.html
	$(PYTEST) -m browser $(ARGUMENTS)

lint: $(VENV)/.installed-dev
	$(VENV)/bin/ruff check
	$(VENV)/bin/ruff format --check
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

format: $(VENV)/.installed-dev
	$(VENV)/bin/ruff check --fix
	$(VENV)/bin/ruff format

# Every block is executed, warnings are errors; then every link is followed.
docs: $(VENV)/.installed-docs
	rm -rf build/docs
	$(VENV)/bin/python -m sphinx -W --keep-going -E -q -b html docs build/docs
	$(VENV)/bin/python docs/_extension/links.py build/docs

build/docs/index.html:
	$(MAKE) docs

docs-check: $(VENV)/.installed-test
	$(PYTEST) tests/tools/test_documents.py $(ARGUMENTS)

# Real ranks and a local Ray. ADJOINT_KILLS says how often a rank is killed.
test-distributed: $(DISTRIBUTED_VENV)/.installed-distributed
	$(DISTRIBUTED_VENV)/bin/python -m pytest -m distributed tests/distributed $(ARGUMENTS)

bench: $(ORACLE_VENV)/.installed-bench
	$(ORACLE_VENV)/bin/python -m benchmarks $(ARGUMENTS)

# Code in C as LLVM text, and what comes with the package as machine code, after a change of it.
# CLANG="python -m ziglang cc" is one that pip installs.
CLANG ?= clang
native: $(VENV)/.installed-dev
	mkdir -p build
	for name in factors known_calls pool programs recording rows stepping; do \
		$(CLANG) -target x86_64-linux-musl -std=c11 -O1 -g0 -Wall -ffreestanding -fno-unroll-loops -fno-vectorize -fno-slp-vectorize \
			-fno-stack-protector -S -emit-llvm -o build/$$name.ll src/adjoint/runtime/$$name.c && \
		$(PYTHON) tools/native_text.py src/adjoint/runtime/$$name.c < build/$$name.ll > build/$$name.kept.ll && \
		mv build/$$name.kept.ll src/adjoint/runtime/$$name.ll || exit 1; \
	done
	for name in known_calls pool programs recording; do \
		$(VENV)/bin/python tools/native_code.py src/adjoint/runtime/$$name.ll > build/$$name.x86_64 && \
		mv build/$$name.x86_64 src/adjoint/runtime/$$name.x86_64 || exit 1; \
	done
	$(VENV)/bin/python tools/native_tiles.py > build/tiles.avx2 && mv build/tiles.avx2 src/adjoint/runtime/tiles.avx2

wheel: $(VENV)/bin/python
	rm -rf dist
	$(VENV)/bin/python -m pip wheel --quiet --no-deps --wheel-dir dist .

clean:
	rm -rf .venv .venv-* build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests -name __pycache__ -prune -exec rm -rf {} +

# An environment, and in it one stamp for each set of extras: installed again only when pyproject.toml changes.
$(VENV)/bin/python $(ORACLE_VENV)/bin/python $(DISTRIBUTED_VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "adjoint needs Python 3.11 or newer; name one: make PYTHON=/path/to/python3"; exit 1; }
	$(PYTHON) -m venv $(@:/bin/python=)

$(VENV)/.installed-%: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/python -m pip install --quiet --quiet --editable '.[$*]'
	@touch $@

# The demo goes on without the pictures of graphs where pygraphviz can't be had.
$(VENV)/.tried-draw: pyproject.toml | $(VENV)/.installed-train
	@$(VENV)/bin/python -m pip install --quiet --editable '.[draw]' \
		|| echo "pygraphviz can't be installed here: graphs can be drawn as text and DOT only"
	@touch $@

$(ORACLE_VENV)/.installed-oracle: pyproject.toml | $(ORACLE_VENV)/bin/python
	$(ORACLE_VENV)/bin/python -m pip install --quiet --quiet torch==2.13.0
	$(ORACLE_VENV)/bin/python -m pip install --quiet --quiet --editable '.[test,oracle]'
	@touch $@

$(DISTRIBUTED_VENV)/.installed-distributed: pyproject.toml | $(DISTRIBUTED_VENV)/bin/python
	$(DISTRIBUTED_VENV)/bin/python -m pip install --quiet --quiet --editable '.[distributed]'
	@touch $@

$(ORACLE_VENV)/.installed-bench: benchmarks/requirements.txt $(ORACLE_VENV)/.installed-oracle
	$(ORACLE_VENV)/bin/python -m pip install --quiet --quiet --requirement benchmarks/requirements.txt
	@touch $@

# Every target sets up what it needs; a second call is quick.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PINNED := $(VENV)/.pinned
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
VERIFIED := --require-hashes --only-binary :all:
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest \
	--generate-hashes --no-build --custom-compile-command "make lock" pyproject.toml

RELEASE := .venv-release
BENCH := $(VENV)/.bench
SITE := $(VENV)/.site
LOWEST := .venv-lowest
LITELLM := .venv-litellm
EVIDENCE := evidence/make.py evidence/default.py evidence/rates.py evidence/rivals.py evidence/restarts.py \
	evidence/fair.py evidence/verdicts.py evidence/traffic.py evidence/advice.py evidence/scale.py \
	evidence/violated_share.py evidence/unattainable.py evidence/many_parts.py evidence/kill_test.py \
	evidence/sweep_2000.py evidence/bench.py evidence/steer_replay.py evidence/steer_real.py tools/kill_live.py \
	tools/kill_service.py benchmarks/service.py
EVIDENCE_LITELLM := evidence/litellm_routing.py
export OMP_NUM_THREADS := 1
# The suite starts hundreds of processes that import the package.
unexport PYTHONDONTWRITEBYTECODE
# A worker gets tests that lie together, so that what a file's tests share is mostly made once.
PARALLEL := -q -n 2 --dist worksteal

.PHONY: demo test suite test-lowest test-python test-numba test-litellm dist check-docs evidence bench bench-check bench-sets docs site-check note licences lock lint format clean

demo: $(READY)
	$(BIN)/hedgerow reproduce

test: $(READY)  # lint has work for one processor, so both run at once
	@$(MAKE) --no-print-directory -j 2 lint suite

suite: $(READY)
	$(BIN)/pytest $(PARALLEL)

# The same tests with the lowest versions that pyproject.toml allows, in an environment of their own.
test-lowest: $(LOWEST)/.ready
	$(LOWEST)/bin/pytest $(PARALLEL)

# The same tests on another Python, such as PYTHON=python3.13, in an environment of its own; TESTS=tests/sets runs some.
TESTS ?=
test-python: VERSION = $(shell $(PYTHON) -c "import sys; print(sys.implementation.cache_tag)")
test-python:
	$(PYTHON) -m venv --clear .venv-python/$(VERSION)
	.venv-python/$(VERSION)/bin/python -m pip install --quiet --disable-pip-version-check $(VERIFIED) -r requirements/test.txt
	.venv-python/$(VERSION)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	NUMBA_CACHE_DIR=$(CURDIR)/.venv-python/$(VERSION)/kernels .venv-python/$(VERSION)/bin/pytest $(PARALLEL) $(TESTS)

# The engine and a few policies on another numba, such as NUMBA=0.63.1, in an environment of its own.
NUMBA ?= 0.63.1
OTHER := .venv-numba/$(NUMBA)
ENGINE_TESTS := tests/engine tests/games/test_simulate.py tests/policies/test_transcription.py
test-numba: requirements/numba-$(NUMBA).txt
	$(PYTHON) -m venv --clear $(OTHER)
	$(OTHER)/bin/python -m pip install --quiet --disable-pip-version-check $(VERIFIED) -r requirements/numba-$(NUMBA).txt
	PYTHONPATH=$(CURDIR)/src NUMBA_CACHE_DIR=$(CURDIR)/$(OTHER)/kernels \
		$(OTHER)/bin/python -m pytest -q $(ENGINE_TESTS)

# LiteLLM needs older versions of what others here need, so it has an environment of its own.
test-litellm: $(LITELLM)/.ready
	$(LITELLM)/bin/pytest -q tests/integrations

requirements/numba-%.txt: | $(PINNED)
	$(LOCK) --extra test --upgrade-package numba==$* -o $@ >/dev/null

check-docs: $(READY)  # a part of test: generated tables, quoted lines, names and commands
	$(BIN)/pytest -q tests/docs

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/typos
	$(BIN)/rumdl check --quiet .
	$(BIN)/zizmor --offline --quiet .github
	$(BIN)/sp-repo-review --show err .

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

evidence: $(BENCH) $(LITELLM)/.ready  # every file in evidence/; hours, and HEDGEROW_DATA must name the measured files
	for file in $(EVIDENCE); do $(BIN)/python $$file || exit 1; done
	$(LITELLM)/bin/python $(EVIDENCE_LITELLM)

bench: $(BENCH)
	$(BIN)/python benchmarks/bench.py

bench-check: $(BENCH)
	$(BIN)/python benchmarks/bench.py --check

bench-sets: $(BENCH)
	$(BIN)/python benchmarks/sets.py

docs: $(SITE)  # renews the generated parts of pages, then builds the site: out/site/index.html
	$(BIN)/python tools/make_docs.py
	$(BIN)/sphinx-build -q -E -W --keep-going -d out/site-pages docs out/site

site-check: $(SITE)  # opens every page in a browser: no request to elsewhere, no error
	$(BIN)/python tools/open_site.py

# docs/note/note.pdf; the same sources give the same bytes, and test_note.py compares their digest.
note:
	@command -v latexmk >/dev/null || command -v pdflatex >/dev/null || { echo "make note needs LaTeX:\
	 get texlive-latex-base, texlive-latex-recommended and latexmk, then run it again." >&2; exit 1; }
	$(PYTHON) tools/rates_note.py
	$(PYTHON) tools/note_table.py
	cd docs/note && export SOURCE_DATE_EPOCH=0 FORCE_SOURCE_DATE=1 && if command -v latexmk >/dev/null; \
		then latexmk -gg -pdf -interaction=nonstopmode -halt-on-error note.tex; \
		else for pass in 1 2 3; do pdflatex -interaction=nonstopmode -halt-on-error note.tex || exit 1; done; fi

# dist/: the source archive and the wheel, built twice to the same bytes, and checked. RELEASING.md has the other steps.
dist: export SOURCE_DATE_EPOCH = $(shell git log -1 --format=%ct 2>/dev/null || echo 1580601600)
dist:
	$(PYTHON) -m venv --clear $(RELEASE)
	$(RELEASE)/bin/python -m pip install --quiet --disable-pip-version-check $(VERIFIED) -r requirements/release.txt
	rm -rf dist $(RELEASE)/again
	$(RELEASE)/bin/python -m hatchling build -d dist
	$(RELEASE)/bin/python -m hatchling build -d $(RELEASE)/again >/dev/null
	diff -r dist $(RELEASE)/again
	$(RELEASE)/bin/twine check --strict dist/*
	$(RELEASE)/bin/python -m pip hash dist/*

licences: $(BENCH) $(SITE)
	$(BIN)/python tools/licences.py

# Writes the versions and hashes of all that is installed; UPGRADE=--upgrade takes the newest.
lock: $(PINNED)
	$(LOCK) $(UPGRADE) --extra all --extra test --group make --group dev -o requirements/test.txt >/dev/null
	$(LOCK) $(UPGRADE) --extra docs -c requirements/test.txt -o requirements/docs.txt >/dev/null
	$(LOCK) $(UPGRADE) --extra bench -c requirements/test.txt -o requirements/bench.txt >/dev/null
	$(LOCK) $(UPGRADE) --extra cli --extra gymnasium --extra litellm --extra test --group make -o requirements/litellm.txt >/dev/null
	$(LOCK:pyproject.toml=requirements/release.in) $(UPGRADE) -o requirements/release.txt >/dev/null
	$(LOCK) $(UPGRADE) --extra all -c requirements/test.txt --format pylock.toml -o pylock.toml >/dev/null
	$(LOCK) --resolution lowest-direct --extra all --extra test --group make -o requirements/lowest.txt >/dev/null

$(PINNED): requirements/test.txt
	$(PYTHON) -m venv --clear $(VENV)
	$(INSTALL) $(VERIFIED) -r requirements/test.txt
	touch $(PINNED)

$(READY): $(PINNED) pyproject.toml
	$(INSTALL) --no-deps --no-build-isolation -e .
	touch $(READY)

$(LOWEST)/.ready: requirements/lowest.txt pyproject.toml
	$(PYTHON) -m venv --clear $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check $(VERIFIED) -r requirements/lowest.txt
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

$(LITELLM)/.ready: requirements/litellm.txt pyproject.toml
	$(PYTHON) -m venv --clear $(LITELLM)
	$(LITELLM)/bin/python -m pip install --quiet --disable-pip-version-check $(VERIFIED) -r requirements/litellm.txt
	$(LITELLM)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@

$(BENCH): $(READY) requirements/bench.txt
	$(INSTALL) $(VERIFIED) -r requirements/bench.txt
	touch $(BENCH)

$(SITE): $(READY) requirements/docs.txt
	$(INSTALL) $(VERIFIED) -r requirements/docs.txt
	touch $(SITE)

clean:
	rm -rf $(VENV) $(LOWEST) $(RELEASE) $(LITELLM) .venv-numba .venv-python dist out docs/gallery docs/reference/api .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

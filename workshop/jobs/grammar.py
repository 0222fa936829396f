"""The grammar of the command line: every command of ``python -m kit`` and its options."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workshop.command_line import Parser, above_0, amount, count, whole


def grammar(benches: Sequence[str]) -> argparse.ArgumentParser:
    """The command line's grammar; ``benches`` are the names that ``bench`` takes."""
    top = Parser(prog="python -m kit", description="Run, look at and check the kit's notebooks.")
    sub = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    run = sub.add_parser("run", help="execute a notebook, or a paper's in order, as a resumable job")
    run.add_argument("target", help="a number (13), a notebook's name, or a paper's for all of its notebooks")
    run.add_argument("--profile", default="laptop", help="smoke, laptop (default), gpu or node")
    run.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="13.NAME=VALUE: one notebook's; NAME=A,B: a run for each value",
    )
    run.add_argument("--seeds", default="", metavar="0-2", help="a run for each: NAME-0, NAME-1, … (or 0,3,5)")
    run.add_argument("--name", help="of the run, a folder in runs/ (default: the family's name)")
    run.add_argument("--tag", default="", help="work in a branch, NAME-TAG, which keeps data and earlier stages")
    run.add_argument("--until", default="", metavar="NN", help="number of the last notebook (default: all)")
    run.add_argument("--force", action="store_true", help="execute finished notebooks again too")
    run.add_argument("--verbose", action="store_true", help="show what the notebooks print, and every figure")
    _plan(sub.add_parser("plan", help="memory and time that a job's trainings need, before anything is downloaded"))
    join = sub.add_parser("join", help="on another machine of a rank file: take part in a run's training")
    join.add_argument("run")
    join.add_argument("--wait", type=amount, default=600.0, help="seconds without work after which it ends (600)")
    sub.add_parser("list", help="notebooks, profiles and runs")
    view = sub.add_parser("view", help="a run's results and files, or several runs compared with the first")
    view.add_argument("run", nargs="+")
    view.add_argument("--watch", action="store_true", help="write the page again every ten seconds while it trains")
    _export(sub.add_parser("export", help="runs' metrics and outcomes as tables, for pandas or R"))
    check = sub.add_parser("doctor", help="check this machine and installation")
    check.add_argument("--report", action="store_true", help="as a block to paste into a bug report")
    bench = sub.add_parser("bench", help="measure speed; prints ratios within one run")
    bench.add_argument("name", choices=benches)
    bench.add_argument(
        "count", nargs="*", type=count, help="kernels: how many at once (6); processes: steps of GRPO (3)"
    )
    notebooks = sub.add_parser("notebooks", help="bring the executed notebooks up to date with notebooks/percent")
    notebooks.add_argument("targets", nargs="*", metavar="NN", help="numbers, names or families (default: all)")
    notebooks.add_argument("--check", action="store_true", help="only say which are not up to date")
    notebooks.add_argument("--force", action="store_true", help="execute those that are up to date as well")
    notebooks.add_argument("--staged", action="store_true", help="git's hook: carry cells over, execute nothing")
    # Another prefix than a dash: what follows "lab" is JupyterLab's, dashes and all.
    lab = sub.add_parser("lab", help="open the notebooks in JupyterLab, as copies", prefix_chars="\0", add_help=False)
    lab.add_argument("options", nargs="*", metavar="OPTION", help="of jupyter lab, such as --port 9000")
    reset = sub.add_parser("reset", help="a notebook of lab as it came; one you changed is kept under a dated name")
    reset.add_argument("targets", nargs="+", metavar="NN", help="numbers, names or families, or all")
    _teach(sub)
    results = sub.add_parser("results", help="make the published results anew: trainings, measurements, pages")
    results.add_argument("papers", nargs="*", metavar="PAPER", help="of these only (default: all)")
    results.add_argument("--plan", action="store_true", help="say what remains and how long it takes, do nothing")
    results.add_argument("--again", action="store_true", help="publish, or prove, what is current too")
    results.add_argument("--prove", action="store_true", help="find out whether they are current, by smoke runs")
    runs = "make only the runs whose names fit, such as '*-1.*', and publish nothing"
    results.add_argument("--runs", metavar="PATTERN", default="", help=runs)
    results.add_argument("--figures", action="store_true", help="all figures anew of results/outcomes; trains nothing")
    _tools(sub.add_parser("tools", help="the papers' tools: list them, call one on an image, serve them all"))
    sub.add_parser("readme", help="fill generated blocks of README.md and docs/; write docs/departures.md")
    return top


def _teach(sub: Any) -> None:
    course = sub.add_parser("course", help="hand out notebooks to a class, grade what comes back")
    course.description = (
        "make: write these notebooks into the folder, with empty exercises, to hand out. grade: run the answers in the "
        "folder's notebooks in the sandbox, and write grades.csv, grades.html, class.csv, class.html and "
        "feedback/NAME-feedback.html into the folder; the notebooks stay as they are."
    )
    course.add_argument("action", choices=["make", "grade"])
    course.add_argument("folder", type=Path, help="to write the students' notebooks into, or of the returned ones")
    course.add_argument("targets", nargs="*", metavar="NN", help="numbers, names, families (grade: all that came back)")
    course.add_argument("--seed", type=whole, help="grade: of the cases that nobody has seen (default: a new one)")
    slides = sub.add_parser("slides", help="a paper as slides for a lesson: one file for a browser")
    slides.add_argument("paper", help="such as those that list names")
    slides.add_argument("--out", type=Path, metavar="FILE", help="to write (default: PAPER-slides.html, here)")


def _plan(plan: argparse.ArgumentParser) -> None:
    plan.add_argument("target", help="a number (13), a notebook's name, or a paper's for all of its notebooks")
    plan.add_argument("--profile", help="smoke, laptop, gpu or node (default)")
    plan.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="as for run")
    plan.add_argument("--seeds", default="", metavar="0-2", help="as for run: how long all of them take")
    plan.add_argument("--until", default="", metavar="NN", help="as for run")
    plan.add_argument("--gpus", type=count, help="instead of as many as the profile says")
    plan.add_argument(
        "--card", type=count, choices=(24, 80, 141), help="GB: RTX 4090, A100, H200 (gpu: 24; others: 80)"
    )
    plan.add_argument("--memory", type=above_0, metavar="GB", help="of each GPU, instead of the card's")
    plan.add_argument("--tokens", type=count, help="of the longest episode, instead of as many as the settings allow")
    plan.add_argument("--expected-tokens", type=count, help="of an episode on average, where no run has measured it")
    plan.add_argument("--picture-tokens", type=count, help="of them, of pictures (as the paper allows, else 8192)")
    plan.add_argument("--tflops", type=above_0, help="of a GPU in bfloat16, instead of the card's (312: an A100)")
    plan.add_argument("--bandwidth", type=above_0, metavar="TB/s", help="of its memory, instead of the card's (2.0)")


def _tools(tools: argparse.ArgumentParser) -> None:
    tools.add_argument("action", choices=["list", "call", "serve"], help="ACTION --help says more")
    tools.add_argument("options", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def _export(export: argparse.ArgumentParser) -> None:
    export.add_argument("run", nargs="+")
    where = "folder, or file for the metrics (default: the run's folder)"
    export.add_argument("--csv", nargs="?", const="", required=True, metavar="WHERE", help=where)

"""The command line: ``python -m kit run|plan|join|list|view|doctor|bench|notebooks|lab|reset|course|results|readme``.

Exit codes: 0 done; 1 it was tried and failed; 2 refused before anything ran; 130 interrupted.
"""

from __future__ import annotations

import argparse
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from kit.files import FULL, UNWRITABLE, print_anything
from kit.jobs.missing import tell

BENCHES = {
    "coverage": "benchmarks.coverage:coverage_table",
    "kernels": "benchmarks.kernels:kernels_bench",
    "processes": "benchmarks.processes:processes_bench",
    "reading": "benchmarks.reading:reading_table",
    "rollout": "benchmarks.rollout:rollout_bench",
    "sandbox": "benchmarks.sandbox:bench",
    "search": "benchmarks.rollout:documents_bench",
    "super_resolution": "benchmarks.super_resolution:super_resolution_bench",
    "tail": "benchmarks.rollout:tail_bench",
}
"""What ``python -m kit bench NAME`` calls."""

SMALL = 4
"""Up to so many cores, processes get one thread each unless OMP_NUM_THREADS says otherwise."""


def parser() -> argparse.ArgumentParser:
    """The command line's grammar."""
    top = argparse.ArgumentParser(prog="python -m kit", description="Run, look at and check the kit's notebooks.")
    sub = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    run = sub.add_parser("run", help="execute a notebook, or a paper's in order, as a resumable job")
    run.add_argument("target", help="a number (13), a notebook's name, or a paper's for all of its notebooks")
    run.add_argument("--profile", default="laptop", help="smoke, laptop (default), gpu or node")
    run.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="13.NAME=VALUE: one notebook's")
    run.add_argument("--name", help="of the run, a folder in runs/ (default: the family's name)")
    run.add_argument("--tag", default="", help="work in a branch, NAME-TAG, which keeps data and earlier stages")
    run.add_argument("--until", default="", metavar="NN", help="number of the last notebook (default: all)")
    run.add_argument("--force", action="store_true", help="execute finished notebooks again too")
    run.add_argument("--verbose", action="store_true", help="show what the notebooks print, and every figure")
    plan = sub.add_parser("plan", help="memory and time that a job's trainings need, before anything is downloaded")
    plan.add_argument("target", help="a number (13), a notebook's name, or a paper's for all of its notebooks")
    plan.add_argument("--profile", default="node", help="smoke, laptop, gpu or node (default)")
    plan.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="as for run")
    plan.add_argument("--until", default="", metavar="NN", help="as for run")
    plan.add_argument("--gpus", type=int, help="instead of as many as the profile says")
    plan.add_argument("--memory", type=float, metavar="GB", help="of each GPU (gpu: 24; others: 80)")
    plan.add_argument("--tokens", type=int, help="of the longest episode, instead of as many as the settings allow")
    plan.add_argument("--picture-tokens", type=int, help="of them, of pictures (8192)")
    plan.add_argument("--tflops", type=float, default=312.0, help="of a GPU in bfloat16 (312: an A100)")
    plan.add_argument("--bandwidth", type=float, default=2.0, metavar="TB/s", help="of its memory (2.0: an A100)")
    join = sub.add_parser("join", help="on another machine of a rank file: take part in a run's training")
    join.add_argument("run")
    join.add_argument("--wait", type=float, default=600.0, help="seconds without work after which it ends (600)")
    sub.add_parser("list", help="notebooks, profiles and runs")
    view = sub.add_parser("view", help="a run's results and files, or several runs compared with the first")
    view.add_argument("run", nargs="+")
    view.add_argument("--watch", action="store_true", help="write the page again every ten seconds while it trains")
    check = sub.add_parser("doctor", help="check this machine and installation")
    check.add_argument("--report", action="store_true", help="as a block to paste into a bug report")
    bench = sub.add_parser("bench", help="measure speed; prints ratios within one run")
    bench.add_argument("name", choices=sorted(BENCHES))
    bench.add_argument("count", nargs="*", type=int, help="kernels: how many at once (6); processes: steps of GRPO (3)")
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
    course = sub.add_parser("course", help="hand out notebooks to a class, grade what comes back")
    course.add_argument("action", choices=["make", "grade"])
    course.add_argument("folder", type=Path, help="to write the students' notebooks into, or of the returned ones")
    course.add_argument("targets", nargs="*", metavar="NN", help="numbers, names, families (grade: all that came back)")
    course.add_argument("--seed", type=int, help="of the cases that nobody has seen (default: a new one)")
    results = sub.add_parser("results", help="make the published results anew: trainings, measurements, pages")
    results.add_argument("papers", nargs="*", metavar="PAPER", help="of these only (default: all)")
    results.add_argument("--plan", action="store_true", help="say what remains and how long it takes, do nothing")
    results.add_argument("--again", action="store_true", help="publish, or prove, what is current too")
    results.add_argument("--prove", action="store_true", help="find out whether they are current, by smoke runs")
    sub.add_parser("readme", help="fill README.md's generated block from results/; write docs/departures.md")
    return top


def _run(args: argparse.Namespace) -> int:
    from kit.jobs.checks import check_machine
    from kit.jobs.listing import view
    from kit.jobs.run import execute, plan

    try:
        job = plan(args.target, args.profile, args.set, args.name, tag=args.tag, until=args.until)
        check_machine(job)
    except Exception as error:
        return _refuse(error)
    execute(job, args.force, args.verbose)
    from kit.jobs.ending import ending  # it draws: imports that the notebooks needn't wait for

    print("", *([view(job.name)] if args.verbose else []), ending(job.name), sep="\n")
    return 0


def _refuse(error: Exception) -> int:
    """Exit code 2 for what was wrong with the request; anything else is a fault and is raised."""
    from kit.jobs.notebooks import NotebookError
    from kit.jobs.run import JobError
    from kit.train.launch.topology import LaunchError

    if not isinstance(error, JobError | LaunchError | NotebookError | ValueError):
        raise error
    print(f"python -m kit: {error}", file=sys.stderr)
    return 2


def _plan(args: argparse.Namespace) -> int:
    from kit.jobs.run import plan

    try:
        job = plan(args.target, args.profile, args.set, None, until=args.until)
        from kit.jobs.plan import report  # torch and trl: not before the names are right

        sizes = (args.gpus, args.memory and args.memory * 1e9, args.tokens, args.picture_tokens)
        text, fits = report(job, *sizes, card=(args.tflops * 1e12, args.bandwidth * 1e12))
    except Exception as error:
        return _refuse(error)
    print(text)
    return 0 if fits else 2


def _join(args: argparse.Namespace) -> int:
    from kit.train.launch.launcher import join
    from kit.train.launch.topology import LaunchError

    try:
        jobs = join(args.run, args.wait)
    except LaunchError as error:
        return _refuse(error)
    print(f"took part in {jobs} training(s)")
    return 0 if jobs else 1


def _list(args: argparse.Namespace) -> int:
    from kit.jobs.listing import listing

    print(listing())
    return 0


def _view(args: argparse.Namespace) -> int:
    from kit.jobs.listing import view

    if len(args.run) > 1:
        return _compare(args.run)
    print(view(args.run[0]), flush=True)
    from kit.jobs.run_page import watch, write  # they draw: imports that the text above needn't wait for

    print(f"\npage: {watch(args.run[0]) if args.watch else write(args.run[0])}")
    return 0


def _compare(names: Sequence[str]) -> int:
    from kit.jobs.compare import compare

    print(compare(names), flush=True)
    from kit.jobs.run_page import draw_together

    for path in draw_together(names):
        print(f"\ncurves: {path}")
    return 0


def _doctor(args: argparse.Namespace) -> int:
    from kit.jobs.doctor import bug_report, doctor

    report, well = bug_report() if args.report else doctor()
    print(report)
    return 0 if well else 1


def _bench(args: argparse.Namespace) -> int:
    module, _, function = BENCHES[args.name].partition(":")
    getattr(importlib.import_module(module), function)(*args.count)
    return 0


def _notebooks(args: argparse.Namespace) -> int:
    from kit.jobs.notebooks import NotebookError, find, sources
    from publishing.twins import check, update, update_staged

    if args.staged:
        return update_staged()
    try:
        chosen = [source for target in args.targets for source in find(target)] or sources()
    except NotebookError as error:
        return _refuse(error)
    return check(chosen) if args.check else update(chosen, args.force)


def _course(args: argparse.Namespace) -> int:
    from course import grading, handout

    try:
        if args.action == "make":
            print("\n".join(str(path) for path in handout.make(args.folder, args.targets)))
        else:
            print(grading.grade(args.folder, args.targets, args.seed))
    except Exception as error:
        return _refuse(error)
    return 0


def _results(args: argparse.Namespace) -> int:
    from publishing.results import command

    return command(args.papers, args.plan, args.again, args.prove)


def _readme(args: argparse.Namespace) -> int:
    from publishing.departures import PAGE, write
    from publishing.readme import fill

    print("README.md changed" if fill() else "README.md is up to date")
    print(f"{PAGE} changed" if write() else f"{PAGE} is up to date")
    return 0


def _lab(args: argparse.Namespace) -> int:
    from kit.jobs.lab import start

    start(args.options)
    return 0


def _reset(args: argparse.Namespace) -> int:
    from kit.jobs.lab import reset_all

    print(reset_all(args.targets))
    return 0


COMMANDS = {
    "run": _run,
    "plan": _plan,
    "join": _join,
    "list": _list,
    "view": _view,
    "doctor": _doctor,
    "bench": _bench,
    "notebooks": _notebooks,
    "lab": _lab,
    "reset": _reset,
    "course": _course,
    "results": _results,
    "readme": _readme,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Do what the command line says; returns the exit code."""
    print_anything()
    args = parser().parse_args(argv)
    if (os.cpu_count() or 1) <= SMALL:
        os.environ.setdefault("OMP_NUM_THREADS", "1")
    # What a scheduler sends before it kills: end as Ctrl-C does, notebooks kept and no process left behind.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        return COMMANDS[args.command](args)
    except KeyboardInterrupt:
        print("\ninterrupted; the same command again goes on", file=sys.stderr)
        return 130
    except OSError as error:
        if error.errno in UNWRITABLE:
            what = f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror)
            print(f"python -m kit: {what}: set KIT_RUNS to a folder of your own", file=sys.stderr)
            return 1
        if error.errno not in FULL:
            raise
        print(f"python -m kit: {error.strerror}", file=sys.stderr)
        return 1
    except ImportError as error:
        return tell(error, sys.argv[1:] if argv is None else argv)
    except Exception as error:
        from kit.jobs.notebooks import NotebookError
        from kit.jobs.run import JobError

        if not isinstance(error, JobError | NotebookError | ValueError):
            raise
        print(f"python -m kit: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())

"""The command line: ``python -m kit run|plan|list|view|…`` (:mod:`workshop.jobs.grammar`).

Exit codes: 0 done; 1 it was tried and failed; 2 refused before anything ran; 130 interrupted; 141 nobody reads stdout.
"""

from __future__ import annotations

import argparse
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace

from kit.files import FULL, UNWRITABLE, print_anything
from workshop.command_line import while_read
from workshop.jobs.grammar import grammar
from workshop.jobs.missing import tell

BENCHES = {
    "coverage": "benchmarks.coverage:coverage_table",
    "decoding": "benchmarks.decoding:decoding_bench",
    "kernels": "benchmarks.kernels:kernels_bench",
    "processes": "benchmarks.processes:processes_bench",
    "reading": "benchmarks.reading:reading_table",
    "rollout": "benchmarks.rollout:rollout_bench",
    "sandbox": "benchmarks.sandbox:bench",
    "search": "benchmarks.rollout:documents_bench",
    "serving": "benchmarks.serving:serving_bench",
    "super_resolution": "benchmarks.super_resolution:super_resolution_bench",
    "tail": "benchmarks.rollout:tail_bench",
    "trainers": "benchmarks.trainers:trainers_bench",
}
"""What ``python -m kit bench NAME`` calls."""

SMALL = 4
"""Up to so many cores, processes get one thread each unless OMP_NUM_THREADS says otherwise."""


def parser() -> argparse.ArgumentParser:
    """The command line's grammar."""
    return grammar(sorted(BENCHES))


def _run(args: argparse.Namespace) -> int:
    from workshop.jobs.doctor import not_the_locks
    from workshop.jobs.listing import view
    from workshop.jobs.machine import by_memory, check_machine
    from workshop.jobs.run import execute
    from workshop.jobs.sweep import planned, sweep

    try:
        name, some = planned(args.target, args.profile, args.set, args.seeds, args.name, args.tag, args.until)
        for one in some:
            check_machine(one.job)
        some = [replace(one, job=by_memory(one.job, one.sets)) for one in some]
    except Exception as error:
        return _refuse(error)
    if other := not_the_locks():
        print(other)
    if args.seeds or len(some) > 1:
        return sweep(some, name, args.force, args.verbose)
    (job,) = (one.job for one in some)
    execute(job, args.force, args.verbose)
    from workshop.jobs.ending import ending  # it draws: imports that the notebooks needn't wait for

    print("", *([view(job.name)] if args.verbose else []), ending(job.name), sep="\n")
    return 0


def _refuse(error: Exception) -> int:
    """Exit code 2 for what was wrong with the request; anything else is a fault and is raised."""
    from kit.train.launch.topology import LaunchError
    from workshop.jobs.notebooks import NotebookError
    from workshop.jobs.run import JobError

    if not isinstance(error, JobError | LaunchError | NotebookError | ValueError):
        raise error
    print(f"python -m kit: {error}", file=sys.stderr)
    return 2


def _plan(args: argparse.Namespace) -> int:
    from workshop.jobs.sweep import planned, planned_for

    try:
        _, some = planned(args.target, args.profile or "node", args.set, args.seeds, None, "", args.until)
        from workshop.jobs.plan import card, report  # torch and trl: not before the names are right

        job, memory = some[0].job, args.memory and args.memory * 1e9
        chosen = card(job, args.card, memory, args.tflops, args.bandwidth)
        text, fits = report(job, args.gpus, memory, args.tokens, args.picture_tokens, chosen, args.expected_tokens)
    except Exception as error:
        return _refuse(error)
    print(planned_for(some, bool(args.profile)), text, sep="\n\n")
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
    from workshop.jobs.listing import listing

    print(listing())
    return 0


def _view(args: argparse.Namespace) -> int:
    from workshop.jobs.listing import view

    if len(args.run) > 1:
        return _compare(args.run)
    print(view(args.run[0]), flush=True)
    from workshop.jobs.run_page import watch, write  # they draw: imports that the text above needn't wait for

    print(f"\npage: {watch(args.run[0]) if args.watch else write(args.run[0])}")
    return 0


def _compare(names: Sequence[str]) -> int:
    from workshop.jobs.compare import compare

    print(compare(names), flush=True)
    from workshop.jobs import together  # it draws: imports that the text above needn't wait for

    groups = together.grouped(names)
    print(f"\n{together.told(groups)}\n\npage: {together.write(groups, together.page_of(names), ', '.join(names))}")
    return 0


def _export(args: argparse.Namespace) -> int:
    from workshop.jobs.export import export

    print(*export(args.run, args.csv), sep="\n")
    return 0


def _doctor(args: argparse.Namespace) -> int:
    from workshop.jobs.doctor import bug_report, doctor

    report, well = bug_report() if args.report else doctor()
    print(report)
    return 0 if well else 1


def _bench(args: argparse.Namespace) -> int:
    module, _, function = BENCHES[args.name].partition(":")
    getattr(importlib.import_module(module), function)(*args.count)
    return 0


def _notebooks(args: argparse.Namespace) -> int:
    from workshop.jobs.notebooks import NotebookError, find, sources
    from workshop.publishing.twins import check, update, update_staged

    if args.staged:
        return update_staged()
    try:
        chosen = [source for target in args.targets for source in find(target)] or sources()
    except NotebookError as error:
        return _refuse(error)
    return check(chosen) if args.check else update(chosen, args.force)


def _course(args: argparse.Namespace) -> int:
    from workshop.course import grading, handout

    try:
        if args.action == "make":
            print("\n".join(str(path) for path in handout.make(args.folder, args.targets)))
        else:
            print(grading.grade(args.folder, args.targets, args.seed))
    except Exception as error:
        return _refuse(error)
    return 0


def _slides(args: argparse.Namespace) -> int:
    from workshop.course import slides

    try:
        page, gif = slides.write(args.paper, args.out)
    except Exception as error:
        return _refuse(error)
    print(
        f"{page}: {page.stat().st_size / 1000:.0f} kB; open it in a browser, the arrow keys or a click turn the slides"
    )
    print(f"{gif}: {gif.stat().st_size / 1000:.0f} kB; its episode, for slides made elsewhere")
    return 0


def _results(args: argparse.Namespace) -> int:
    from workshop.publishing.results import command

    return command(args.papers, args.plan, args.again, args.prove, args.figures, args.runs)


def _readme(args: argparse.Namespace) -> int:
    from workshop.course import guide
    from workshop.publishing import costs, house, licences
    from workshop.publishing.departures import PAGE, write
    from workshop.publishing.readme import fill

    pages = [("README.md", fill), *((page.PAGE, page.fill) for page in (house, costs, licences, guide)), (PAGE, write)]
    for page, filled in pages:
        print(f"{page} changed" if filled() else f"{page} is up to date", flush=True)
    return 0


def _tools(args: argparse.Namespace) -> int:
    from workshop.jobs import tools

    return tools.main([args.action, *args.options])


def _lab(args: argparse.Namespace) -> int:
    from workshop.jobs.lab import start

    start(args.options)
    return 0


def _reset(args: argparse.Namespace) -> int:
    from workshop.jobs.lab import reset_all

    print(reset_all(args.targets))
    return 0


COMMANDS = {
    "run": _run,
    "plan": _plan,
    "join": _join,
    "list": _list,
    "view": _view,
    "export": _export,
    "doctor": _doctor,
    "bench": _bench,
    "notebooks": _notebooks,
    "lab": _lab,
    "reset": _reset,
    "course": _course,
    "slides": _slides,
    "results": _results,
    "readme": _readme,
    "tools": _tools,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Do what the command line says; returns the exit code."""
    print_anything()
    return while_read(lambda: _do(argv))


def _do(argv: Sequence[str] | None) -> int:
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
        from workshop.jobs.notebooks import NotebookError
        from workshop.jobs.run import JobError

        if not isinstance(error, JobError | NotebookError | ValueError):
            raise
        print(f"python -m kit: {error}", file=sys.stderr)
        return 1

"""What a sandbox costs: ``python -m kit bench sandbox``. Compares within one run; nothing here is asserted.

CPU is that of all the sandbox's processes together, per episode or turn; wall is what a client waits. Medians, with the
quartiles behind them. A head's CPU is known when it was replaced, so CPU is a difference over several turns.
"""

from __future__ import annotations

import io
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from PIL import Image

from benchmarks.sandbox_baselines import RIVALS, Rival
from benchmarks.telling import progress, tell
from turn_sandbox import linux
from turn_sandbox.client import PLOTTING, Sandbox
from turn_sandbox.confine import LAYERS
from turn_sandbox.episode import SandboxEpisode
from turn_sandbox.limits import Limits

SETUP = "import numpy\nfrom PIL import Image\n_n = 0"
PLOTTING_SETUP = f"import cv2, matplotlib.pyplot\n{SETUP}"
"""The same imports for a sandbox, whose zygote has them, and for everything else."""

CROP = "_n += 1\npart = Image.open('photo.png').convert('RGB').crop((_n % 8, 0, 560, 480)).resize((380, 380))"
TURNS = {"trivial turn": "x = 1", "crop turn": CROP, "failing turn": "x = 2\n1 / 0"}
TARGETS = {"start": 20.0, "trivial turn": 6.0, "crop turn": 20.0}
"""CPU milliseconds aimed at on the machine of the first measurements (two cores)."""

LIMIT = 0.2
"""Seconds after which the endless loop is ended."""

BLOCK = 10
"""Turns whose CPU is measured together."""


def photo() -> bytes:
    """A 640×480 PNG."""
    noise = Image.effect_noise((640, 480), 60).convert("RGB")
    data = io.BytesIO()
    noise.save(data, "PNG")
    return data.getvalue()


def spread(values: Sequence[float]) -> str:
    """Median and quartiles."""
    if len(values) < 2:
        return f"{values[0]:8.2f}"
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return f"{middle:8.2f} [{low:.2f}, {high:.2f}]"


class Meter:
    """Measures one sandbox; keeps and prints the medians."""

    def __init__(self, box: Sandbox, figures: dict[str, float], prefix: str = "", setup: str = SETUP) -> None:
        self.box, self.figures, self.prefix, self.setup = box, figures, prefix, setup
        self.files = {"photo.png": photo()}

    def episode(self, limits: Limits | None = None) -> SandboxEpisode:
        """One that has the picture."""
        return self.box.episode(files=self.files, setup=self.setup, limits=limits)

    def shared_cpu(self) -> float:
        """CPU seconds of server and zygote so far."""
        return sum(linux.cpu_seconds(pid) or 0.0 for pid in self.box.pids)

    def row(self, name: str, walls: Sequence[float], cpus: Sequence[float]) -> None:
        """Keep and print milliseconds."""
        self.figures[f"{self.prefix}{name} wall ms"] = statistics.median(walls)
        self.figures[f"{self.prefix}{name} cpu ms"] = statistics.median(cpus)
        target = f"   (aim {TARGETS[name]:g})" if name in TARGETS and not self.prefix else ""
        print(f"  {self.prefix + name:26s} {spread(walls):28s} wall   {spread(cpus):28s} CPU{target}")

    def start(self, repeats: int) -> None:
        """Starting an episode; what the two turns cost that settle its CPU is taken off."""
        walls, cpus = [], []
        for _ in range(repeats):
            before, began = self.shared_cpu(), time.perf_counter()
            with self.episode() as episode:
                walls.append(1e3 * (time.perf_counter() - began))
                self._turns(episode, ["pass"] * 2)
                spent = self.shared_cpu() - before + episode.cpu_s
                two = self._turns(episode, ["pass"] * 2)[1]
                cpus.append(1e3 * (spent - two))
        self.row("start", walls, cpus)

    def turns(self, name: str, code: str, repeats: int) -> None:
        """A kind of turn, in an episode of its own."""
        walls, cpus = [], []
        with self.episode() as episode:
            self._turns(episode, ["pass"] * 4)
            for _ in range(max(3, repeats // BLOCK)):
                empty = self._turns(episode, ["pass"] * BLOCK)[1] / BLOCK
                block, cpu = self._turns(episode, [code] * BLOCK + ["pass"] * 2)
                walls += [1e3 * wall for wall in block[:BLOCK]]
                cpus.append(1e3 * (cpu - 2 * empty) / BLOCK)
        self.row(name, walls, cpus)

    def _turns(self, episode: SandboxEpisode, codes: Sequence[str]) -> tuple[list[float], float]:
        """Wall seconds of each turn, CPU seconds of all."""
        before, walls = self.shared_cpu() + episode.cpu_s, []
        for code in codes:
            began = time.perf_counter()
            episode.run(code)
            walls.append(time.perf_counter() - began)
        return walls, self.shared_cpu() + episode.cpu_s - before

    def late(self, repeats: int) -> None:
        """How long after its limit an endless loop is back."""
        with self.episode(Limits(seconds=LIMIT)) as episode:
            walls = []
            for _ in range(repeats):
                began = time.perf_counter()
                episode.run("while True: pass")
                walls.append(1e3 * (time.perf_counter() - began - LIMIT))
        self.figures["timed-out turn late ms"] = statistics.median(walls)
        print(f"  {'timed-out turn':26s} {spread(walls)} ms after its limit")

    def late_in_a_crowd(self, count: int) -> None:
        """The same with so many episodes whose turns all time out; waiting for a core isn't counted."""
        brief = 0.05
        live = [self.episode(Limits(seconds=brief)) for _ in range(count)]
        results = self.box.run_many([(episode, "while True: pass", "", "", ()) for episode in live])
        late = sorted(1e3 * (result.wall_s - brief) for result in results if result.status == "timeout")
        for episode in live:
            episode.close()
        p99 = self.figures[f"timed-out turn late ms, p99 of {count}"] = late[int(0.99 * (len(late) - 1))]
        print(f"  {f'timed-out at {count}':26s} {spread(late)} ms after its limit, p99 {p99:.1f}")

    def per_minute(self, kind: str, count: int, seconds: float) -> None:
        """Turns a minute with so many episodes at once."""
        live = [self.episode() for _ in range(count)]
        began, done = time.perf_counter(), 0
        while time.perf_counter() - began < seconds:
            results = self.box.run_many([(episode, TURNS[kind], "", "", ()) for episode in live])
            if failed := [result.error for result in results if result.status != "ok"]:
                raise RuntimeError(f"{len(failed)} of {count} turns failed: {failed[0]}")
            done += len(results)
        rate = self.figures[f"{kind}s a minute, {count}"] = 60 * done / (time.perf_counter() - began)
        for episode in live:
            episode.close()
        print(f"  {kind + 's a minute':26s} {rate:10,.0f} at {count} episodes")

    def crowd(self, count: int) -> None:
        """So many live episodes, a turn each."""
        began = time.perf_counter()
        live = [self.episode() for _ in range(count)]
        results = self.box.run_many([(episode, "x = 1", "", "", ()) for episode in live])
        ok = sum(result.status == "ok" for result in results)
        took = time.perf_counter() - began
        self.figures[f"ok of {count} live episodes"] = ok
        print(f"  {f'{count} live episodes':26s} {ok} of {count} turns ok, {took:.1f} s for all starts and turns")
        for episode in live:
            episode.close()

    def memory(self, count: int = 8) -> None:
        """Private memory of an episode: keeper and head, before and after a crop."""
        for when, code in (("idle", "x = 1"), ("after a crop", CROP)):
            before = set(linux.session_leaders(self.box.pids[1]))
            live = [self.episode() for _ in range(count)]
            for episode in live:
                episode.run(code)
            time.sleep(0.2)  # heads that were replaced are gone
            leaders = set(linux.session_leaders(self.box.pids[1])) - before
            sizes = [linux.private_bytes(linux.members(leader)) / 1e6 for leader in leaders]
            for episode in live:
                episode.close()
            if sizes:
                self.figures[f"{self.prefix}private MB {when}"] = statistics.median(sizes)
                print(f"  {self.prefix + 'private MB ' + when:26s} {spread(sizes)}")


def rival(one: Rival, setup: str, repeats: int, figures: dict[str, float], prefix: str = "") -> None:
    """Start and turns of something else, in wall milliseconds."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "photo.png").write_bytes(photo())
        walls: dict[str, list[float]] = {"start": []}
        for left in (2, 1, 0):
            walls["start"].append(_timed(lambda: one.start(setup, folder)))
            if left:
                one.close()
        for kind in ("trivial turn", "crop turn"):
            code = TURNS[kind]
            one.run(code)
            walls[kind] = [_timed(lambda code=code: one.run(code)) for _ in range(repeats)]  # type: ignore[misc]
        private = one.private_bytes()
        one.close()
    print(f"  {prefix}{one.name}")
    for kind, values in walls.items():
        figures[f"{prefix}{one.name}: {kind} wall ms"] = statistics.median(values)
        print(f"    {kind:24s} {spread(values)} wall")
    if private is not None:
        figures[f"{prefix}{one.name}: private MB"] = private / 1e6
        print(f"    {'private MB':24s} {private / 1e6:8.1f}")


def _timed(deed: Callable[[], object]) -> float:
    began = time.perf_counter()
    deed()
    return 1e3 * (time.perf_counter() - began)


def bench(
    repeats: int = 40, seconds: float = 4.0, episodes: tuple[int, ...] = (1, 32, 128), crowd: int = 512
) -> dict[str, float]:
    """Measure, print and return everything: milliseconds, turns a minute, memory, ratios to what else there is.

    Args:
        repeats: of each kind of turn; a quarter of that for the slow ones.
        seconds: of each measurement of turns a minute.
        episodes: how many at once there.
        crowd: live episodes.
    """
    figures: dict[str, float] = {}
    few = max(3, repeats // 4)
    with Sandbox() as box:
        print(f"sandbox bench: tier {box.tier}, {box.workers} workers, {repeats} repeats; ms: median [quartiles]")
        tell("1 of 4: this sandbox, about a minute")
        meter = Meter(box, figures)
        meter.start(repeats)
        for name, code in TURNS.items():
            meter.turns(name, code, repeats)
        meter.late(few)
        meter.late_in_a_crowd(max(episodes))
        for kind in ("trivial turn", "crop turn"):
            for count in episodes:
                meter.per_minute(kind, count, seconds)
        meter.memory()
        meter.crowd(crowd)
    tell("2 of 4: the same without any confinement, some seconds")
    print("without any confinement")
    with Sandbox(without=LAYERS, allow_unsafe=True) as bare:
        _some(Meter(bare, figures, "bare "), repeats)
    tell("3 of 4: the same with more imported, some seconds")
    print("with matplotlib and cv2 imported as well")
    with Sandbox(preload=PLOTTING) as all_imports:
        meter = Meter(all_imports, figures, "all ", PLOTTING_SETUP)
        _some(meter, repeats)
        meter.memory()
    print("elsewhere, 'all' with matplotlib and cv2 imported as well")
    tell("4 of 4: other ways to run code, about a minute")
    for one in progress(RIVALS, "other ways"):
        rival(one, SETUP, few, figures)
    for one in RIVALS[2:]:
        rival(one, PLOTTING_SETUP, few, figures, "all ")
    _ratios(figures)
    return figures


def _some(meter: Meter, repeats: int) -> None:
    """The figures that are compared between ways to set a sandbox up."""
    meter.start(max(3, repeats // 4))
    for name, code in TURNS.items():
        meter.turns(name, code, repeats)


def _ratios(figures: dict[str, float]) -> None:
    """What the others take, as multiples."""
    print("ratios")
    python, kernel = "a new Python per call", "a Jupyter kernel"
    for what in ("", "all "):
        for kind in ("trivial turn", "crop turn"):
            _ratio(
                figures, f"{what}{kind}: {python} / a turn", f"{what}{python}: {kind} wall ms", f"{what}{kind} wall ms"
            )
        _ratio(figures, f"{what}start: {kernel} / an episode", f"{what}{kernel}: start wall ms", f"{what}start wall ms")
        _ratio(figures, f"{what}memory: {kernel} / an episode", f"{what}{kernel}: private MB", f"{what}private MB idle")
    _ratio(figures, "crop turn: a turn / exec", "crop turn wall ms", "exec in this process: crop turn wall ms")
    _ratio(figures, "trivial turn: confined / bare", "trivial turn cpu ms", "bare trivial turn cpu ms")


def _ratio(figures: dict[str, float], name: str, one: str, other: str) -> None:
    if one in figures and other in figures:
        figures[name] = figures[one] / figures[other]
        print(f"  {name:46s} {figures[name]:8.1f}")

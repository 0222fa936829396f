"""What a sandbox costs: ``python -m kit bench sandbox``. Compares within one run; nothing here is asserted."""

from __future__ import annotations

import io
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from PIL import Image

from kit.sandbox import linux
from kit.sandbox.client import Sandbox, SandboxEpisode
from kit.sandbox.limits import Limits

CROP = "_n += 1\npart = Image.open('photo.png').convert('RGB').crop((_n % 8, 0, 560, 480)).resize((380, 380))"
SETUP = "from PIL import Image\n_n = 0"
TURNS = {"trivial": "x = 1", "crop": CROP, "failing": "x = 2\n1 / 0"}
LIMIT = 0.2
"""Seconds after which the endless loop is ended."""


def photo() -> bytes:
    """A 640×480 PNG."""
    noise = Image.effect_noise((640, 480), 60).convert("RGB")
    data = io.BytesIO()
    noise.save(data, "PNG")
    return data.getvalue()


class Meter:
    """Wall and CPU milliseconds of repeated actions; CPU of every process of the sandbox (Linux only)."""

    def __init__(self, box: Sandbox) -> None:
        self.box = box

    def shared_cpu(self) -> float:
        """CPU seconds of server and zygote so far."""
        return sum(linux.cpu_seconds(pid) or 0.0 for pid in self.box.pids)

    def spent(self, episode: SandboxEpisode, codes: list[str]) -> tuple[float, list[float]]:
        """CPU seconds of these turns and of two empty ones, and the wall seconds of each of these.

        A head's CPU is known when it was replaced and collected, two good turns later.
        """
        settle = ["pass"] * 2
        for code in settle:
            episode.run(code)
        before, walls = self.shared_cpu() + episode.cpu_s, []
        for code in codes:
            began = time.perf_counter()
            episode.run(code)
            walls.append(time.perf_counter() - began)
        for code in settle:
            episode.run(code)
        return self.shared_cpu() + episode.cpu_s - before, walls

    def turns(self, episode: SandboxEpisode, code: str, repeats: int) -> dict[str, float]:
        """Median wall and mean CPU of a turn."""
        empty = self.spent(episode, ["pass"] * repeats)[0] / (repeats + 2)
        used, walls = self.spent(episode, [code] * repeats)
        return {"wall_ms": 1e3 * statistics.median(walls), "cpu_ms": 1e3 * (used - 2 * empty) / repeats}

    def starts(self, data: bytes, repeats: int) -> dict[str, float]:
        """Median wall and mean CPU of starting an episode."""
        walls, costs = [], []
        for _ in range(repeats):
            before, began = self.shared_cpu(), time.perf_counter()
            episode = self.box.episode(files={"photo.png": data}, setup=SETUP)
            walls.append(time.perf_counter() - began)
            # Two turns tell what the first head used; what two turns cost is taken off.
            for code in ("pass", "pass"):
                episode.run(code)
            started = self.shared_cpu() - before + episode.cpu_s
            costs.append(started - 2 * self.spent(episode, ["pass"] * 2)[0] / 4)
            episode.close()
        return {"wall_ms": 1e3 * statistics.median(walls), "cpu_ms": 1e3 * statistics.fmean(costs)}


def per_minute(box: Sandbox, code: str, episodes: int, seconds: float, data: bytes) -> float:
    """Turns a minute with so many episodes at once."""
    live = [box.episode(files={"photo.png": data}, setup=SETUP) for _ in range(episodes)]
    began, done = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        results = box.run_many([(episode, code, "", "", ()) for episode in live])
        if failed := [result.error for result in results if result.status != "ok"]:
            raise RuntimeError(f"{len(failed)} of {episodes} turns failed: {failed[0]}")
        done += len(results)
    took = time.perf_counter() - began
    for episode in live:
        episode.close()
    return 60 * done / took


def fresh_process(code: str, folder: str, repeats: int) -> float:
    """Median wall ms of running ``code`` in a new Python, as is done without a sandbox."""

    def once() -> float:
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", f"{SETUP}\n{code}"], cwd=folder, check=True)
        return time.perf_counter() - began

    return 1e3 * statistics.median(once() for _ in range(repeats))


def bench(repeats: int = 30, seconds: float = 3.0, episodes: tuple[int, ...] = (1, 32)) -> dict[str, float]:
    """Measure, print and return: milliseconds of each kind of turn, turns a minute, ratio to a fresh process.

    Args:
        repeats: of each kind of turn; a fifth of that for the slow ones.
        seconds: of each measurement of turns a minute.
        episodes: how many at once there.
    """
    figures: dict[str, float] = {}
    data, few = photo(), max(3, repeats // 5)
    with Sandbox() as box, tempfile.TemporaryDirectory() as folder:
        print(f"sandbox bench: {box.workers} worker(s), {repeats} repeats; CPU of all its processes together")
        meter = Meter(box)
        _row(figures, "start", meter.starts(data, repeats))
        with box.episode(files={"photo.png": data}, setup=SETUP) as episode:
            for name, code in TURNS.items():
                _row(figures, name, meter.turns(episode, code, repeats))
        with box.episode(limits=Limits(seconds=LIMIT)) as loop:
            late = [loop.run("while True: pass").wall_s - LIMIT for _ in range(few)]
        figures["timeout_late_ms"] = 1e3 * statistics.median(late)
        print(f"  endless loop {figures['timeout_late_ms']:8.2f} ms after its limit")
        for kind in ("trivial", "crop"):
            for count in episodes:
                rate = figures[f"{kind}_per_minute_{count}"] = per_minute(box, TURNS[kind], count, seconds, data)
                print(f"  {kind:8s}{count:4d} episodes {rate:9,.0f} turns a minute")
        Path(folder, "photo.png").write_bytes(data)
        figures["fresh_process_ms"] = fresh_process(CROP, folder, few)
    ratio = figures["speedup_over_fresh_process"] = figures["fresh_process_ms"] / figures["crop_wall_ms"]
    print(f"  python -c    {figures['fresh_process_ms']:8.2f} ms for a crop, {ratio:.1f} times a turn's")
    return figures


def _row(figures: dict[str, float], name: str, measured: dict[str, float]) -> None:
    figures.update({f"{name}_{unit}": value for unit, value in measured.items()})
    print(f"  {name:10s}   {measured['wall_ms']:8.2f} ms wall (median) {measured['cpu_ms']:8.2f} ms CPU (mean)")

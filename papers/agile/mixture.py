"""The paper's mixture of 15.6K pictures (appendix A): how many of each part, and the data sets that hold them."""

from __future__ import annotations

from kit.data.hub import HubSource

SIZES = {"high-resolution": 6200, "text-and-structure": 5200, "dense-natural": 4200}
"""Pictures in each part of the paper's mixture of 15.6K (appendix A)."""

_DEEPEYES = ("ChenShawn/DeepEyes-Datasets-47k", "see its card; pictures under their sources' terms")
_TEXTVQA = "CC BY 4.0 (pictures from Open Images)"

HUB = (
    # Benchmarks come first in their group, so that --with-benchmarks mixes them in as the paper does.
    # Revisions were seen in public code; where none could be verified the row has none, and --pin asks the hub.
    HubSource(
        id="craigwu/vstar_bench",
        group="high-resolution",
        split="test",
        column="image",
        licence="as V*: see its card",
        revision="d9ae62c903da0c98336e85c5ee89cd863b04b4da",
        benchmark=True,
    ),
    HubSource(
        id="DreamMr/HR-Bench",
        group="high-resolution",
        split="hrbench_4k",
        column="image",
        licence="see its card",
        config="hrbench_version_split",
        benchmark=True,
    ),
    HubSource(
        id=_DEEPEYES[0],
        group="high-resolution",
        split="train",
        column="images",
        licence=_DEEPEYES[1],
        data_files="data_0.1.2_visual_toolbox_v2.parquet",
    ),
    HubSource("lmms-lab-encoder/textvqa", "text-and-structure", "train", "image", _TEXTVQA),
    HubSource(
        id="lmms-lab-encoder/DocVQA",
        group="text-and-structure",
        split="validation",
        column="image",
        licence="InfographicVQA's terms: research",
        config="InfographicVQA",
        benchmark=True,
    ),
    HubSource(
        id=_DEEPEYES[0],
        group="text-and-structure",
        split="train",
        column="images",
        licence=_DEEPEYES[1],
        data_files="data_v0.8_visual_toolbox_v2.parquet",
    ),
    HubSource("lmms-lab-encoder/RealWorldQA", "dense-natural", "test", "image", "see its card", benchmark=True),
    HubSource(
        id="detection-datasets/coco",
        group="dense-natural",
        split="train",
        column="image",
        licence="annotations CC BY 4.0; pictures under Flickr's terms",
        revision="cf0b22332314a937e9dc8a1957b21725430bb41d",
    ),
)
"""Where the paper's pictures are. Ids move; this is the one place to correct them."""

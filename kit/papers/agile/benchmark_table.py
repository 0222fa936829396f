"""List the data sets of the nine general benchmarks and of the questions to train on: ids, files and columns.

:data:`BENCHMARKS` is the one place to correct ids and columns; revisions are pinned by ``hub.lock.json`` like every
other data set's. No row was read from the hub itself. Checked against public code that reads the same data sets were:

- lmms-eval's tasks (ids, splits, columns): ``mme_rw``, ``blink``, ``halbench``, ``mmmu``; columns of ``rwqa`` and
  ``vstar``, whose ids there may be other copies; columns, configuration and splits of ``hrb4k`` and ``hrb8k``;
- other public repositories: id and split of ``rwqa``; id, split, columns and the files' names in column ``image`` of
  ``vstar``; files and columns of ``mmvp``; ids, splits and columns of :data:`TRAINING`.

Not checked are the patterns of files' names of ``blink`` and ``halbench``, and licences. ``mmvp`` keeps four answers
that lmms-eval's own copy corrects (questions 99, 100, 279 and 280). A data set with other columns is refused with
those found and those expected.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from string import Formatter

from kit.data.hub import HubSource


@dataclass(frozen=True)
class Benchmark(HubSource):
    """A data set of questions about images.

    Attributes:
        question: its column of questions.
        answer: its column of answers: a text, or a list of texts that are all right.
        columns: its columns of images; in braces a pattern for a file's name. Empty: the one of :attr:`column`.
        options: its columns of options: one for each, or one with a list; empty: the question holds them.
        says: what each answer in the data stands for, such as ``1`` for ``yes``; empty: for itself.
    """

    question: str = "question"
    answer: str = "answer"
    columns: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    says: Mapping[str, str] = field(default_factory=dict)

    @property
    def shown(self) -> tuple[str, ...]:
        """The columns of images."""
        return self.columns or (self.column,)

    @property
    def expected(self) -> tuple[str, ...]:
        """All columns that are read, those in braces among them."""
        found = [self.question, self.answer, *self.options]
        for column in self.shown:
            found += [name for _, name, _, _ in Formatter().parse(column) if name] if "{" in column else [column]
        return tuple(found)


_CARD = "see its card"
_MANY = tuple(f"image_{k}" for k in range(1, 8))
_LETTERS = ("A", "B", "C", "D")

BENCHMARKS: dict[str, Benchmark] = {
    "mme_rw": Benchmark(
        *("yifanzhang114/MME-RealWorld-lite-lmms-eval", "real world", "train", "bytes", _CARD),
        options=("multi-choice options",),
        benchmark=True,
    ),
    "rwqa": Benchmark("lmms-lab-encoder/RealWorldQA", "real world", "test", "image", _CARD, benchmark=True),
    "hrb4k": Benchmark(
        *("DreamMr/HR-Bench", "high resolution", "hrbench_4k", "image", _CARD),
        config="hrbench_version_split",
        options=_LETTERS,
        benchmark=True,
    ),
    "hrb8k": Benchmark(
        *("DreamMr/HR-Bench", "high resolution", "hrbench_8k", "image", _CARD),
        config="hrbench_version_split",
        options=_LETTERS,
        benchmark=True,
    ),
    "vstar": Benchmark(
        *("craigwu/vstar_bench", "high resolution", "test", "image", _CARD),
        revision="d9ae62c903da0c98336e85c5ee89cd863b04b4da",
        data_files="test_questions.jsonl",  # its images lie beside it, and would be taken for the data set
        question="text",
        answer="label",
        benchmark=True,
    ),
    "mmvp": Benchmark(
        *("MMVP/MMVP", "fine-grained", "train", "", _CARD),
        data_files="Questions.csv",
        question="Question",
        answer="Correct Answer",
        columns=("MMVP Images/{Index}.jpg",),
        options=("Options",),
        benchmark=True,
    ),
    "blink": Benchmark(
        *("BLINK-Benchmark/BLINK", "fine-grained", "val", "", _CARD),
        data_files="**/val-*.parquet",  # all fourteen subtasks, one of which is a jigsaw
        question="prompt",
        columns=_MANY[:4],
        benchmark=True,
    ),
    "halbench": Benchmark(
        *("lmms-lab/HallusionBench", "hallucination", "image", "image", _CARD),
        data_files="**/image-*.parquet",
        answer="gt_answer",
        says={"0": "no", "1": "yes"},
        benchmark=True,
    ),
    "mmmu": Benchmark(
        *("lmms-lab/MMMU", "reasoning", "validation", "", _CARD),
        columns=_MANY,
        options=("options",),
        benchmark=True,
    ),
}
"""Short name, as in :data:`kit.papers.agile.reported.GENERAL` → where its questions are."""

TRAINING = (
    Benchmark("lmms-lab-encoder/textvqa", "text", "train", "image", "CC BY 4.0", answer="answers"),
    Benchmark("HuggingFaceM4/ChartQA", "charts", "train", "image", "GPL-3.0", question="query", answer="label"),
)
"""Training splits with questions, in place of the paper's unnamed QA data."""

"""Questions from the Hugging Face hub: images to distort, the paper's own benchmark, questions of text alone.

Where they lie is in ``evaluation_sets.toml`` beside this file; :mod:`kit.data.questions` reads them. Each is pinned
to a commit. Column and file names are as public code reads them; a data set that has changed is named with what it
holds instead.

Departures
- [arft-sources] Paper: coding images come from nine data sets (appendix B.1). Here: DocVQA, OCRVQA, RICO (as
  ScreenQA's short questions) and TextBookQA are read by their training splits, TextVQA and ChartQA stand in for the
  other five. Why: OCRBench-v2 and MathVision are test sets alone, and of MSRA-TD500, HierText and FUNSD no set with
  images and questions is known on the hub. May change: which kinds of images an agent learns to restore.
- [arft-released-tasks] Paper: trains on 1,200 coding and 20 search examples of its own, which it released as 3,400 and
  63 single steps (MAT-Training). Here: tasks are made anew, by the same counts, of the sources above and of flags.
  Why: the steps hold stored tool outputs and texts to continue, not episodes. May change: every result at full size.
- [arft-pixels] Paper: doesn't say how large images are; its scripts squeeze them to 720 × 720, then allow 401,408
  pixels. Here: at most 401,408 pixels, aspect ratio kept. Why: a squeezed image has boxes and letters of another
  shape. May change: small print, and so coding on documents.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path

from kit.data.questions import QuestionSet, question_sets, tasks_of
from kit.episode import Task

_SETS = question_sets(Path(__file__).with_suffix(".toml"))
DOCUMENTS = tuple(_SETS["images"].values())
"""Images with questions, of training splits alone."""
TEXTS = tuple(_SETS["text"].values())
"""Multi-hop questions of text alone (Table 2)."""
MAT = _SETS["benchmark"]["mat"]
"""The paper's own test sets (:mod:`papers.visual_arft.mat_benchmark`)."""


def text_tasks(source: QuestionSet, n: int) -> list[Task]:
    """The first ``n`` questions of a multi-hop set as tasks without images; they have no gold queries.

    Args:
        source: the data set.
        n: number of questions.

    Raises:
        kit.data.hub.HubError: the data set can't be reached, or has no such columns.
    """
    meta = {"tools": ["search"], "difficulty": "hard", "queries": []}
    tasks = islice(tasks_of(source, lambda image: image), n)
    return [replace(task, meta={**meta, **task.meta}) for task in tasks]

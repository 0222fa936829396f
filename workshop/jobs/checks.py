"""Refuse values that don't go together, before the first of a job's notebooks runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from papers.registry import paper_of
from workshop.jobs.notebooks import Source
from workshop.jobs.parameters import ParameterError, Value


class JobError(Exception):
    """A job that can't start or did not end well; the message says what to do."""


def check_values_together(source: Source, values: Mapping[str, Value]) -> None:
    """Refuse at once what a notebook would refuse only after those before it have worked for long.

    Raises:
        ParameterError: values that don't go together.
    """
    paper = paper_of(source.name)
    settings = paper.settings_of(source.name) if paper else None
    if settings is None:
        return
    from kit.train.launch.topology import ProcessConfig

    known = {field.name for field in fields(settings)}
    try:
        settings(**{key: value for key, value in values.items() if key in known})
        n = ProcessConfig.of(values).num_processes
    except ValueError as error:
        raise ParameterError(f"notebook {source.number}: {error}") from None
    _shared(source, values, n or 1)  # 0: as many as can share the batch


def _shared(source: Source, values: Mapping[str, Value], n: int) -> None:
    """Refuse a batch that ``n`` processes can't share equally."""
    v: Any = values
    batch = (
        v["prompts_per_batch"] * v["group_size"] if "prompts_per_batch" in v else v["batch_size"] + v.get("replay", 0)
    )
    if batch % (v["per_device_batch_size"] * n):
        raise ParameterError(
            f"notebook {source.number}: a batch of {batch} episodes on {n} process(es) with per_device_batch_size="
            f"{v['per_device_batch_size']} each: {v['per_device_batch_size'] * n} at once don't divide it; choose "
            "another per_device_batch_size"
        )

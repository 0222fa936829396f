"""Chart models from the hub in the place of the tool's own reader: DePlot, UniChart, ChartMoE.

Each loader returns a function of image and arguments. Those that make tables parse what the model writes
(:func:`parse_table`), so that a tool asks a model's table as it asks the tool's own.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from PIL import Image

from visual_tools.charts.table import LINE, Table, Value
from visual_tools.tool import Arguments
from visual_tools.words import Word

NEW_TOKENS = 512
"""Tokens that a model may write: the released code's figure for tables."""

DEPLOT_ASKED = "Generate underlying data table of the figure below:"
UNICHART_ASKED = "<extract_data_table> <s_answer>"
TABLE_ASKED = "Extract the data of this chart as a table: one row a line, cells parted by |, the first row the header."


def parse_table(text: str) -> Table:
    """Read a table that a model wrote: rows on lines (or parted by ``<0x0A>`` or ``&``), cells parted by ``|``.

    ``TITLE | Sales <0x0A> Year | Tea <0x0A> 2019 | 8`` is one series, Tea, with 8 for 2019.

    Raises:
        ValueError: there are no rows of numbers; the message shows the text's beginning.
    """
    marked = text.replace(LINE, "\n")
    lines = [line.strip() for line in re.split(r"\n|\s&\s", marked) if "|" in line]
    lines = [line[1:-1] if line.startswith("|") and line.endswith("|") else line for line in lines]
    cells = [[cell.strip() for cell in line.split("|")] for line in lines if not re.fullmatch(r"[\s|:-]+", line)]
    title = ""
    if cells and cells[0][0].casefold() == "title":
        title = " | ".join(cells.pop(0)[1:]).strip()
    if len(cells) < 2 or len(cells[0]) < 2:
        raise ValueError(f"a model's table without rows: {text[:80]!r}; try another chart, or the tool's own reader")
    (across, *series), *rows = cells
    if longer := next((row for row in rows if len(row) > len(cells[0])), None):
        raise ValueError(
            f"a model's table with {len(longer)} cells in the row {' | '.join(longer)[:60]!r}, but {len(cells[0])} in "
            "its head; try another chart, or the tool's own reader"
        )
    columns = [[_value(row[i]) if i < len(row) else None for row in rows] for i in range(1, len(series) + 1)]
    names = tuple(series) if len(series) > 1 else ("",)
    measured = "" if len(series) > 1 else series[0]
    # A table's text doesn't tell the chart's kind; nothing that is asked of a table alone depends on it.
    return Table("bar", title, across, measured, tuple(row[0] for row in rows), names, tuple(map(tuple, columns)))


def _value(cell: str) -> Value:
    return Word(cell, 0, 0, 1, 1).number


def deplot(id: str, revision: str, device: str) -> Callable[[Any, Arguments], Table]:
    """Load DePlot (Liu et al. 2023), a Pix2Struct that writes a chart's table.

    Args:
        id: on the hub.
        revision: a commit or a branch.
        device: where it runs.
    """
    from transformers import Pix2StructForConditionalGeneration, Pix2StructProcessor

    processor = Pix2StructProcessor.from_pretrained(id, revision=revision)
    model = Pix2StructForConditionalGeneration.from_pretrained(id, revision=revision).eval()
    model.to(device)

    def look(image: Image.Image, arguments: Arguments) -> Table:
        del arguments
        inputs = processor(images=image, text=DEPLOT_ASKED, return_tensors="pt").to(device)
        written = model.generate(**inputs, max_new_tokens=NEW_TOKENS)
        return parse_table(processor.decode(written[0], skip_special_tokens=True))

    return look


def unichart(id: str, revision: str, device: str) -> Callable[[Any, Arguments], Table]:
    """Load UniChart (Masry et al. 2023), a Donut that is told by a tag what to write.

    Args:
        id: on the hub.
        revision: a commit or a branch.
        device: where it runs.
    """
    from transformers import DonutProcessor, VisionEncoderDecoderModel

    processor = DonutProcessor.from_pretrained(id, revision=revision)
    model = VisionEncoderDecoderModel.from_pretrained(id, revision=revision).eval()
    model.to(device)

    def look(image: Image.Image, arguments: Arguments) -> Table:
        del arguments
        pixels = processor(image, return_tensors="pt").pixel_values.to(device)
        tokenizer = processor.tokenizer
        asked = tokenizer(UNICHART_ASKED, add_special_tokens=False, return_tensors="pt").input_ids.to(device)
        written = model.generate(pixels, decoder_input_ids=asked, max_new_tokens=NEW_TOKENS)
        return parse_table(tokenizer.decode(written[0][asked.shape[1] :], skip_special_tokens=True))

    return look


def _ask_chartmoe(model: Any, tokenizer: Any, image: Image.Image, asked: str) -> str:
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:  # its code opens images by path
        path = Path(folder) / "chart.png"
        image.save(path)
        said, _ = model.chat(
            tokenizer, f"<ImageHere>{asked}", image=str(path), hd_num=9, history=[], max_new_tokens=NEW_TOKENS
        )
    return str(said)


def _load_chartmoe(id: str, revision: str, device: str) -> Callable[[Image.Image, str], str]:
    """ChartMoE (Xu et al. 2024): the classes are code that comes with the weights, as its authors ask."""
    from transformers import AutoModel, AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(id, revision=revision, trust_remote_code=True)
    model = AutoModel.from_pretrained(id, revision=revision, trust_remote_code=True).to(device).eval()
    return partial(_ask_chartmoe, model, tokenizer)


def chartmoe_table(id: str, revision: str, device: str) -> Callable[[Any, Arguments], Table]:
    """Load ChartMoE to write tables.

    Args:
        id: on the hub.
        revision: a commit or a branch.
        device: where it runs.
    """
    ask = _load_chartmoe(id, revision, device)
    return lambda image, arguments: parse_table(ask(image, TABLE_ASKED))


def chartmoe_text(id: str, revision: str, device: str) -> Callable[[Any, Arguments], str]:
    """Load ChartMoE to answer, analyse or describe: it is asked in words, made of a call's arguments.

    Args:
        id: on the hub.
        revision: a commit or a branch.
        device: where it runs.
    """
    ask = _load_chartmoe(id, revision, device)
    return lambda image, arguments: ask(image, asked_of(arguments))


def asked_of(arguments: Arguments) -> str:
    """Put a call's arguments in words for a model: a question, a measure, a label, or nothing in particular."""
    if "question" in arguments:
        return str(arguments["question"])
    if "measure" in arguments:
        of = f" of {arguments['series']}" if arguments.get("series") else ""
        return f"What is the {arguments['measure']}{of} in this chart? Answer in few words."
    if arguments.get("of"):
        return f"Describe {arguments['of']} in this chart in one sentence."
    return "Describe this chart in two sentences."

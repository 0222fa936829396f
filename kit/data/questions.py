"""Read questions about images from data sets on the hub, as tasks; a TOML table tells where each lies, and its columns.

A paper keeps one table in its package. A further set is one more entry of it, under a section and a name::

    [evaluation.vstar]
    id = "craigwu/vstar_bench"
    split = "test"
    column = "image"
    question = "text"
    answer = "label"
    letters = true
    licence = "see its card"
    revision = "d9ae62c903da0c98336e85c5ee89cd863b04b4da"

Fields of an entry are those of :class:`QuestionSet`. Where one names a column it may hold a pattern instead, with
columns in braces: ``"Images/{Index}.jpg"`` is a file's name, ``"How many {label} are there?"`` a question,
``"{reward[truth]}"`` the answer within an object. Only a layout that is odd beyond that needs a ``reader``, a function
that makes of a row one with these columns, such as :func:`talk`.
"""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from pkgutil import resolve_name
from string import Formatter
from typing import Any

from PIL import Image

from kit.data.cells import CellError, object_in, readable, text_of, texts
from kit.data.hub import HubError, HubSource, images_of, rows, used_rows
from kit.data.options import BARE, LETTERS, alike, lettered, option_named
from kit.data.options import letter as letter
from kit.episode import NamedImage, Task, content_hash

Row = Mapping[str, Any]
Fit = Callable[[Image.Image], Image.Image]
"""Shrinks an image that has too many pixels."""


def without_stop(text: str) -> str:
    """A sentence's text without its full stop: ``.05`` of ``.05.``"""
    return text.strip().removesuffix(".").rstrip()


@dataclass(frozen=True)
class QuestionSet(HubSource):
    """A data set of questions.

    Attributes:
        name: its key in the table; its tasks' ids begin with it.
        columns: its columns of images, if it has several; empty: the one of ``column``, and where that is empty, too,
            the questions are about no image.
        question: its column of questions. Where a cell is a list of texts, the row asks several, and its answers are
            a list of one for each.
        answer: its column of answers: a text or a number, an object with ``answer``, or a list of those that are all
            right.
        options: its columns of options: one for each, or one with a list; empty: the question holds them.
        letters: whether an answer that names an option by its letter, or is its text, is that letter alone.
        says: what each answer in the data stands for, such as ``1`` for ``yes``; empty: for itself.
        keeps: columns whose cells tasks keep in ``meta`` under the same names; ``kind`` among them stands in the place
            of the group's.
        reader: place, ``module:function``, of what makes of a row one with these columns; empty: it has them.
        table: the file of its entry, for messages.
    """

    name: str = "questions"
    columns: tuple[str, ...] = ()
    question: str = "question"
    answer: str = "answer"
    options: tuple[str, ...] = ()
    letters: bool = False
    says: Mapping[str, str] = field(default_factory=dict)
    keeps: tuple[str, ...] = ()
    reader: str = ""
    table: str = "its table"

    @property
    def shown(self) -> tuple[str, ...]:
        """The columns of images."""
        return self.columns or ((self.column,) if self.column else ())

    @property
    def expected(self) -> tuple[str, ...]:
        """All columns that are read, those in braces among them."""
        told = (self.question, self.answer, *self.options, *self.shown, *self.keeps)
        return tuple(name for column in told for name in _names(column))

    def read(self, row: Row) -> Row:
        """A row with the columns that are expected.

        Raises:
            CellError: the reader can't make one of this row.
            HubError: it lacks a column.
        """
        try:
            read = resolve_name(self.reader)(row) if self.reader else row
            missing = [name for name in self.expected if name not in read]
        except KeyError as error:
            missing = list(error.args)
        if missing:
            raise HubError(
                f"data set {self.id} ({self.name}): no column {', '.join(map(repr, missing))}; found: "
                f"{', '.join(row)}; expected: {', '.join(self.expected)}. Correct its entry in {self.table}"
            )
        return read

    def asked(self, row: Row) -> list[tuple[str, tuple[str, ...]]]:
        """The questions of a row that have an answer: each with its options, a line each, and its right answers.

        Raises:
            CellError: there is another number of answers than of questions, or a cell holds no text.
            HubError: an answer stands for nothing.
        """
        asked, golds, options = _cell(row, self.question), _cell(row, self.answer), self._options(row)
        if not isinstance(asked, list):
            asked, golds = [asked], [golds]
        elif not isinstance(golds, list) or len(golds) != len(asked):
            count = len(golds) if isinstance(golds, list) else golds
            raise CellError(f"{len(asked)} questions in {self.question!r}, but {self.answer!r} holds {count!r:.40}")
        found = [
            ("\n".join([text, *options]), self._golds(gold, text, options))
            for text, gold in zip(map(text_of, asked), golds, strict=True)
            if text is not None
        ]
        return [(text, right) for text, right in found if right and not self._lacks_options(right, options)]

    def _lacks_options(self, golds: Sequence[str], options: Sequence[str]) -> bool:
        """A letter answers nothing if the options that it names aren't there."""
        return bool(self.options) and not options and any(BARE.fullmatch(gold) for gold in golds)

    def _golds(self, cell: Any, question: str, options: Sequence[str]) -> tuple[str, ...]:
        """The right answers, each once: an option's letter alone, and those of its like; other texts as they are."""
        several = _list_in(cell)
        # A text of numbers is a box or a formula, and not several answers.
        found = texts(several if several and all(isinstance(one, str | Mapping) for one in several) else cell)
        said = [self._meant(text) for text in found] if self.says else found
        if not self.letters:
            return tuple(dict.fromkeys(said))
        named = (option_named(text, question, options) for text in said)
        golds = tuple(dict.fromkeys(right for name in named for right in alike(name, options)))
        names, shown = [letter(option) for option in options], "\n".join([question, *options])
        for gold in golds if options else ():
            mark = letter(gold)
            if BARE.fullmatch(gold) and mark not in names and not re.search(rf"(?<![A-Za-z]){mark}[.:)]", shown):
                raise CellError(f"answer {gold!r:.40} names none of the options {', '.join(filter(None, names))}")
        return golds

    def _meant(self, text: str) -> str:
        """What an answer in the data stands for; a column of numbers with gaps tells 1 as 1.0."""
        for told in (text, text.removesuffix(".0")):
            if told in self.says:
                return self.says[told]
        raise HubError(
            f"data set {self.id}: answer {text!r:.80} in column {self.answer!r}; expected one of {', '.join(self.says)}"
        )

    def _options(self, row: Row) -> list[str]:
        """The options, each with its letter; none if there are none."""
        if len(self.options) > 1:
            several = [(name, text_of(row[name])) for name in self.options]
            return [f"{name}. {text}" for name, text in several if text is not None]
        cell = row[self.options[0]] if self.options else None
        given = _list_in(cell)
        told = [text_of(option) for option in ([cell] if given is None else given)]
        while told and told[-1] is None:
            told.pop()
        if len(told) > len(LETTERS):
            raise CellError(f"{len(told)} options, for {len(LETTERS)} letters")
        if None in told:
            raise CellError(f"option {LETTERS[told.index(None)]} of {len(told)} is empty")
        return lettered([option for option in told if option is not None])


def _names(column: str) -> list[str]:
    """The columns that a pattern names in braces; of any other text, itself."""
    inner = [name for _, name, _, _ in Formatter().parse(column) if name] if "{" in column else [column]
    return [re.split(r"[.\[]", name, maxsplit=1)[0] for name in inner] if "{" in column else inner


def _cell(row: Row, column: str) -> Any:
    """A column's cell, or a pattern filled in; a null if one of its columns, or what is looked for in it, is.

    Raises:
        CellError: an object in it lacks what the pattern names, or that is no text.
    """
    if "{" not in column:
        return row[column]
    pieces = [(before, _within(row, name) if name else "") for before, name, _, _ in Formatter().parse(column)]
    if len(pieces) == 1 and not pieces[0][0]:
        return pieces[0][1]
    told = [(before, "" if value == "" else text_of(value)) for before, value in pieces]
    if any(text is None for _, text in told):
        return None
    return "".join(f"{before}{text}" for before, text in told)


def _within(row: Row, name: str) -> Any:
    """What ``reward[truth]`` or ``prompt[0][content]`` names in a row, in objects told as JSON as well."""
    column, *keys = re.findall(r"[^.\[\]]+", name)
    value = row[column]
    for key in keys:
        if value is None:
            return None
        held = value if isinstance(value, list) else object_in(value)
        if held is None and (held := _list_in(value)) is None:
            raise CellError(f"{value!r:.60} in {column!r}, no object that could have {key!r}")
        if isinstance(held, Mapping) and key in held:
            value = held[key]
        elif isinstance(held, list) and key.isdecimal() and int(key) < len(held):
            value = held[int(key)]
        else:
            has = f"has {', '.join(map(repr, held))}" if isinstance(held, Mapping) else f"has {len(held)} places"
            raise CellError(f"{column!r} holds no {key!r}; it {has}")
    return value


def _list_in(cell: Any) -> list[Any] | None:
    """A list that a cell is, or tells as JSON or Python's text; else None."""
    if isinstance(cell, list):
        return cell
    if isinstance(cell, str) and cell.lstrip().startswith("["):
        for read in (json.loads, ast.literal_eval):
            try:
                found = read(cell)
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                continue
            if isinstance(found, list):
                return found
    return None


def talk(row: Row) -> Row:
    """Read a talk about images: its turns in ``texts``, ``{"user": "Question: …", "assistant": "Answer: …"}`` each.

    Raises:
        CellError: a turn is something else.
    """
    turns = row["texts"] or []
    if not isinstance(turns, list):
        raise CellError(f"{type(turns).__name__} {turns!r:.40} where a list is expected")
    for turn in turns:
        if not isinstance(turn, Mapping) or not {"user", "assistant"} <= turn.keys():
            raise CellError(f"{turn!r:.60} in a talk, not an object with user and assistant")
    asked = [(text_of(turn["user"]) or "").removeprefix("Question:").strip() for turn in turns]
    told = [without_stop((text_of(turn["assistant"]) or "").removeprefix("Answer:")) for turn in turns]
    return {**row, "question": asked, "answer": told}


def by_letter(row: Row) -> Row:
    """Put the letter of the right one of ``choices`` in the place of ``answer``, where that is its text."""
    choices = _list_in(row["choices"]) or []
    right = choices.index(row["answer"]) if row["answer"] in choices else None
    return row if right is None else {**row, "answer": LETTERS[right]}


def question_sets(table: Path) -> dict[str, dict[str, QuestionSet]]:
    """Read a table of data sets: section → name → data set, in the table's order.

    Raises:
        HubError: it isn't TOML, or an entry lacks a field or has one that there isn't.
    """
    try:
        told = tomllib.loads(table.read_text(encoding="utf-8"))
    except ValueError as error:
        raise HubError(f"{table}: {error}") from error
    return {s: {name: _entry(table, s, name, fields) for name, fields in some.items()} for s, some in told.items()}


def _entry(table: Path, section: str, name: str, fields: Row) -> QuestionSet:
    given: dict[str, Any] = {"group": name, "column": "", "name": name, "table": str(table)}
    given |= {key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()}
    try:
        return QuestionSet(**given)
    except TypeError as error:
        raise HubError(f"{table}: [{section}.{name}]: {error}") from error


def tasks_of(source: QuestionSet, fit: Fit) -> Iterator[Task]:
    """Its questions as tasks, in its own order; rows that can't be asked are counted, and told at the end.

    A task's ``meta`` has ``set``, the data set's name; ``kind``, its group; and ``source``, which names the image by
    its pixels, since questions about one image are related, in whichever rows they stand.

    Args:
        source: the data set.
        fit: shrinks images.

    Raises:
        HubError: the data set can't be reached, has no such columns, or nothing to ask.
    """
    with used_rows(source) as left:
        for told in rows(source, ()):
            number = left.row()
            try:
                row = source.read(told)
                images = [image for column in source.shown for image in images_of(_cell(row, column), source)]
                images = [readable(fit(image), image.size) for image in images]
                asked = source.asked(row)
            except CellError as error:
                left.add(error)
                continue
            if source.shown and not images:
                left.add("no image")
                continue
            if not asked:
                left.add(f"no question that has an answer{' and options' if source.options else ''}")
                continue
            named = tuple(NamedImage(f"image_{k}", image) for k, image in enumerate(images, 1))
            shows = content_hash(images[0])[:16] if images else number
            meta: dict[str, Any] = {"set": source.name, "kind": source.group, "source": f"{source.name}-{shows}"}
            meta |= {name: None if row[name] != row[name] else row[name] for name in source.keeps}  # a NaN is none
            for k, (text, golds) in enumerate(asked):
                left.used += 1
                yield Task(f"{source.name}-{number:05d}{f'-{k}' if k else ''}", named, text, golds, dict(meta))

"""A notebook's parameters: what its ``parameters`` cell declares, and the check of values against it.

Each line of that cell reads ``name: type = value  # help``. Types are bool, int, float, str and
lists of these. papermill only warns about an unknown name and passes 4.0 for an int, so values are
checked here, before anything runs.

So are ranges. Numbers of notebooks are counts, sizes, rates and weights: none is below 0, and one is 0 only where its
help says what 0 means, or it is one of those whose 0 speaks for itself (:data:`MAY_BE_0`).
"""

from __future__ import annotations

import ast
import json
import math
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from workshop.command_line import meant

Value = bool | int | float | str | list[Any]

_ZERO = re.compile(r"(?<![\w.,])0(?![\w.]|,\d)")
"""A help text's 0, as in ``0: all``."""

_SCALARS: dict[str, type] = {"bool": bool, "int": int, "float": float, "str": str}


LEAST: Mapping[str, int] = MappingProxyType({"group_size": 2, "m": 2})
"""Of numbers that can't be 1 either: advantages compare, puzzles have pieces."""

SHARES = frozenset(
    ("gives_up", "guesses", "least", "needless", "right_share", "search_share", "test_share", "warmup"),
)
"""Numbers up to 1."""

MOST: Mapping[str, int] = MappingProxyType(
    {**dict.fromkeys(SHARES, 1), **dict.fromkeys(("seed", "test_seed"), 2**32 - 1), "threads": 1024}
)

MAY_BE_0 = SHARES - {"test_share"} | {
    *("seed", "test_seed", "beta", "beta_2", "offset"),
    *("proven", "lesson_sheets", "lesson_searches", "search_train", "text_test", "more_samples", "patch_tries"),
}


LISTS = frozenset(
    ("at_sight", "budgets", "easy_shown", "hard_shown", "kinds", "more_tests", "only", "single_family", "single_tools")
)
"""Texts that are lists themselves: a comma in one parts its items."""


class ParameterError(ValueError):
    """A parameter that does not exist, or a value of the wrong type."""


@dataclass(frozen=True)
class Parameter:
    """One declared parameter: ``type`` as written, ``default`` as a value, ``help`` as its comment says."""

    name: str
    type: str
    default: Value
    help: str


def is_listed(parameter: Parameter) -> bool:
    """True if one value of it may hold commas; of any other parameter ``a,b`` stands for two values."""
    return parameter.type.startswith("list") or parameter.name in LISTS or "," in str(parameter.default)


def read_parameters(cell: str, where: str) -> dict[str, Parameter]:
    """Read the declarations of a parameters cell, in order.

    Args:
        where: the notebook's name, for messages.

    Raises:
        ParameterError: a line is not ``name: type = value  # help``.
    """
    found: dict[str, Parameter] = {}
    lines = cell.splitlines()
    for node in ast.parse(cell).body:
        place = f"{where}, parameters cell, line {node.lineno}"
        declared = isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None
        if not declared:
            raise ParameterError(f"{place}: {lines[node.lineno - 1]!r}; write `name: type = value  # help`")
        assert isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None
        name, kind = node.target.id, ast.unparse(node.annotation)
        if not _known(kind):
            raise ParameterError(f"{place}: {name}: {kind}; types are {', '.join(_SCALARS)} and lists of these")
        _, _, text = lines[(node.end_lineno or node.lineno) - 1][node.end_col_offset or 0 :].partition("#")
        if not text.strip():
            raise ParameterError(f"{place}: {name} has no help; write `{name}: {kind} = value  # help`")
        try:
            default = ast.literal_eval(node.value)
        except ValueError:
            raise ParameterError(f"{place}: {name} = {ast.unparse(node.value)}; give a plain value") from None
        found[name] = Parameter(name, kind, checked(Parameter(name, kind, default, ""), default, place), text.strip())
    return found


def _known(kind: str) -> bool:
    inner = kind.removeprefix("list[").removesuffix("]") if kind.startswith("list[") else kind
    return inner in _SCALARS


def checked(parameter: Parameter, value: Any, where: str) -> Value:
    """``value`` if it is of the parameter's type (an int is turned into a float where one is wanted).

    Args:
        parameter: name, type and default, as the notebook declares them.
        value: the value to check.
        where: where the value came from, for the error.

    Raises:
        ParameterError: it is of another type; says which was expected, and where the value came from.
    """
    if _fits(parameter.type, value):
        return float(value) if parameter.type == "float" else value
    hint = ""
    if parameter.type == "float" and isinstance(value, str) and _as_float(value) is not None:
        # YAML 1.1 takes 1e-5 for text: it wants the dot.
        hint = f"; YAML reads {value} as text, write {_with_dot(value)}"
    raise ParameterError(f"{where}: {parameter.name}={value!r}; expected {parameter.type}{hint}")


def _fits(kind: str, value: Any) -> bool:
    if kind.startswith("list["):
        return isinstance(value, list) and all(_fits(kind[5:-1], item) for item in value)
    if isinstance(value, bool):
        return kind == "bool"
    if kind == "float":
        return isinstance(value, int | float) and abs(value) < math.inf and abs(value) <= sys.float_info.max
    if kind == "str":
        return isinstance(value, str) and _is_utf8(value)
    return isinstance(value, _SCALARS[kind])


def _as_float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _with_dot(text: str) -> str:
    mantissa, _, exponent = text.lower().partition("e")
    return f"{mantissa if '.' in mantissa else mantissa + '.0'}e{exponent}"


def check_range(parameter: Parameter, value: Value, where: str) -> None:
    """Refuse a number that no notebook can work with, whatever its type.

    Args:
        parameter: name, type, default and help, as the notebook declares them.
        value: of the parameter's type.
        where: which notebook, for the error.

    Raises:
        ParameterError: it is too small or too large; says what it may be.
    """
    if parameter.type.removeprefix("list[").removesuffix("]") not in ("int", "float"):
        return
    name = parameter.name
    says_0 = name in MAY_BE_0 or parameter.default == 0 or bool(_ZERO.search(parameter.help))
    least = LEAST.get(name, 0 if says_0 or parameter.type.startswith(("list", "float")) else 1)
    above = parameter.type == "float" and not says_0
    most = MOST.get(name)
    for one in value if isinstance(value, list) else [value]:
        assert isinstance(one, int | float)
        if one < least or (above and not one) or (most is not None and one > most):
            allowed = f"above {least}" if above else f"at least {least}"
            allowed += "" if most is None else f" and at most {most}"
            raise ParameterError(
                f"{where}: {name}={one}: must be {allowed} ({parameter.help}); its own is {parameter.default}"
            )


def parse(parameter: Parameter, text: str, where: str) -> Value:
    """The value that ``text`` on a command line means: ``true``, ``50``, ``1e-4``; lists ``1,2`` or ``[1, 2]``.

    Args:
        parameter: name, type and default, as the notebook declares them.
        text: the value as typed.
        where: where the value came from, for the error.

    Raises:
        ParameterError: it means none of the parameter's type.
    """
    value = _read(parameter.type, text.strip())
    if not _fits(parameter.type, value):
        shown = {"bool": " (true or false)", "list": " (a,b or JSON)", "str": " in UTF-8"}.get(
            parameter.type.partition("[")[0], ""
        )
        raise ParameterError(f"{where}: {parameter.name}={text}; expected {parameter.type}{shown}")
    return checked(parameter, value, where)


def _read(kind: str, text: str) -> Any:
    """``text`` as a value of ``kind`` if it can be one, else the text itself."""
    if kind == "str":
        return text
    if kind.startswith("list[") and not text.startswith("["):
        return [_read(kind[5:-1], item.strip()) for item in text.split(",")] if text else []
    try:
        return json.loads(text.lower() if kind == "bool" else text)
    except (ValueError, RecursionError):  # not JSON, more digits than Python reads, or too deep
        return text


def _is_utf8(text: str) -> bool:
    """False for what a shell passed on in another encoding: notebooks are written in UTF-8."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def unknown(name: str, parameters: Mapping[str, Parameter], where: str) -> ParameterError:
    """Make the error for a name that is not declared: it says the nearest one.

    Args:
        name: the name that was given.
        parameters: the declared ones.
        where: where the name was given, for the message.
    """
    way_out = f"it has {', '.join(parameters) or 'no parameters'}"
    return ParameterError(f"{where} has no parameter {name!r}: {meant(name, parameters, way_out)}")


def check_values(parameters: Mapping[str, Parameter], values: Mapping[str, Any], where: str) -> dict[str, Value]:
    """All of ``values``, each known and of its type.

    Args:
        parameters: declared parameters by name.
        values: values by name.
        where: where the value came from, for the error.

    Raises:
        ParameterError: naming the first that is not.
    """
    for name in values:
        if name not in parameters:
            raise unknown(name, parameters, where)
    return {name: checked(parameters[name], value, where) for name, value in values.items()}

"""Check a call's arguments by their JSON schema; NaN and infinity, which Python reads of JSON, are no numbers."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from math import isfinite
from typing import Any

LONGEST = 200
"""Characters of an error that are told."""


def wrong(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
    """Say where arguments don't fit, and why; empty: they do."""
    errors = _validators()(schema).iter_errors(dict(arguments))
    first = min(errors, key=lambda error: (len(error.absolute_path), error.message), default=None)
    return f"{'.'.join(map(str, first.absolute_path)) or 'arguments'}: {first.message[:LONGEST]}" if first else ""


@cache
def _validators() -> Any:
    from jsonschema import (  # a second to import: not before there is something to check
        Draft202012Validator,
        validators,
    )

    checker = Draft202012Validator.TYPE_CHECKER
    return validators.extend(Draft202012Validator, type_checker=checker.redefine("number", _is_number))


def _is_number(checker: Any, value: Any) -> bool:
    if isinstance(value, float):
        return isfinite(value)
    return isinstance(value, int) and not isinstance(value, bool)  # it may be too large for a float, and is finite

"""Asking again: how often, after how long, and what is said in the end."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from email.utils import formatdate

import pytest

from kit.tools.retry import RetriesExhausted, TransientError, is_transient, retry, retry_after
from visual_tools.serve.client import retry_after as of_a_tool_service


class Service:
    """Fails with each fault in turn, then answers."""

    def __init__(self, *faults: TransientError | Exception) -> None:
        self.faults, self.waits, self.asked = list(faults), list[float](), 0

    def once(self) -> str:
        self.asked += 1
        if self.faults:
            raise self.faults.pop(0)
        return "answer"


def ask(service: Service, retries: int = 3, longest_wait: float = 60.0) -> str:
    return retry(service.once, retries, longest_wait, service.waits.append)


def test_waits_double_and_asked_for_waits_are_kept() -> None:
    service = Service(TransientError("busy"), TransientError("busy", 7.0), TransientError("busy"))
    assert ask(service) == "answer"
    first, second, third = service.waits
    assert 0.375 <= first <= 0.5  # .5 s, less up to a quarter
    assert second == 7.0
    assert 1.5 <= third <= 2.0  # .5 · 2²


def test_waits_end_at_half_a_minute() -> None:
    service = Service(*[TransientError("busy")] * 12)
    ask(service, retries=12)
    assert max(service.waits) <= 30.0


def test_it_gives_up_and_says_why() -> None:
    service = Service(*[TransientError("HTTP 500: oh.")] * 9)
    with pytest.raises(RetriesExhausted, match=r"^no answer in 4 tries, the last: HTTP 500: oh$"):
        ask(service)
    assert (service.asked, len(service.waits)) == (4, 3)


def test_no_retries_is_one_try() -> None:
    service = Service(TransientError("no"))
    with pytest.raises(RetriesExhausted, match=r"^no answer in 1 tries"):
        ask(service, retries=0)
    assert service.waits == []


def test_too_long_a_pause_is_not_waited_for() -> None:
    service = Service(TransientError("HTTP 429", 86_400.0))
    with pytest.raises(
        RetriesExhausted, match=r"^HTTP 429; it asks to wait 86400 s, more than longest_wait=60 s$"
    ) as error:
        ask(service)
    assert error.value.way_out == "Run the same command later"
    assert (service.asked, service.waits) == (1, [])


def test_other_faults_are_not_retried() -> None:
    service = Service(ValueError("mine"))
    with pytest.raises(ValueError, match="mine"):
        ask(service)
    assert service.asked == 1


def test_headers_and_statuses() -> None:
    assert retry_after({"retry-after": formatdate(time.time() + 40, usegmt=True)}) == pytest.approx(40, abs=5)
    assert [status for status in (400, 401, 404, 408, 429, 500, 503) if is_transient(status)] == [408, 429, 500, 503]


NOON = "Wed, 21 Oct 2026 12:00:00"
PAUSES = {
    "7": 7.0,
    " 5 ": 5.0,
    "1.5": 1.5,
    "86400": 86400.0,
    f"{NOON[:-2]}30 GMT": 30.0,
    f"{NOON[:-2]}30": 30.0,
    f"{NOON[:-2]}30 -0000": 30.0,
    "Wed, 21 Oct 2026 14:00:30 +0200": 30.0,
    # At once: whoever is busy would be asked six times in a moment.
    **dict.fromkeys(
        ("0", "0.0", "00", f"{NOON} GMT", "Wed, 21 Oct 2015 07:28:00 GMT", "Mon, 01 Jan 0001 00:00:00"), None
    ),
    # No number of seconds, and no date.
    **dict.fromkeys(
        ("", "-3", "soon", "nan", "inf", "-inf", "1e3", "1_0", "٣", "5s", "1m30s", "0x5", "120, 120"), None
    ),
    **dict.fromkeys(("null", "2026-10-21T12:00:30Z", "1" * 400), None),
}


@pytest.mark.parametrize("read", [retry_after, of_a_tool_service], ids=["kit", "visual_tools"])
@pytest.mark.parametrize(("header", "pause"), PAUSES.items(), ids=[text[:20] for text in PAUSES])
def test_a_pause_is_what_a_header_says_by_its_own_clock_and_never_nothing(
    read: Callable[[Mapping[str, str]], float | None],
    header: str,
    pause: float | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert read({"retry-after": header, "date": f"{NOON} GMT"}) == pause
        assert read({}) is None
    finally:
        monkeypatch.undo()
        time.tzset()


def test_asked_to_come_back_at_once_it_waits_as_ever() -> None:
    service = Service(*[TransientError("HTTP 429", retry_after({"retry-after": "0"})) for _ in range(3)])
    ask(service)
    assert min(service.waits) >= 0.375

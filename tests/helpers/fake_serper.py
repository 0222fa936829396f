"""A small server on loopback that answers like Serper, with faults on demand."""

from __future__ import annotations

from typing import Any

from fake_server import FakeServer


class FakeSerper(FakeServer):
    """The server.

    Args:
        pages: results by query: titles and extracts; nothing is found for others.
        key: the API key it demands.

    Attributes:
        credits: queries it still answers.
    """

    empty = b'{"organic": [{}]}'  # a page without title and address

    def __init__(self, pages: dict[str, list[tuple[str, str]]], key: str = "secret") -> None:
        super().__init__()
        self.pages, self.key, self.credits = pages, key, 1000

    @property
    def url(self) -> str:
        return f"{self.address}/search"

    def error(self, message: str) -> dict[str, Any]:
        return {"message": message, "statusCode": 400}

    def answer(self, path: str, headers: Any, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        if headers.get("X-API-KEY") != self.key:
            return 403, {"message": "Unauthorized.", "statusCode": 403}
        if self.credits == 0:
            return 400, self.error("Not enough credits")
        self.credits -= 1
        pages = enumerate(self.pages.get(body["q"], []), 1)
        organic = [
            {"title": title, "link": f"https://example.org/{at}", "snippet": text, "position": at}
            for at, (title, text) in pages
        ]
        return 200, {"searchParameters": {"q": body["q"], "type": "search"}, "organic": organic, "credits": 1}

"""What a cell tagged ``guess`` shows is folded in JupyterLab's kernels, in order and complete; failures are not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from jupyter_client.manager import KernelManager

from workshop.exercises.folded import FOLDED, as_html

MIXED = """
from IPython.display import HTML, Image, display
import base64
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
print("one", "<two>")
display(HTML("<b>three</b>"))
print("four")
display(Image(PNG, width=9))
5 * 1
"""


class Kernel:
    """A kernel that gets cells as JupyterLab sends them: each with its tags."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def run(self, code: str, *tags: str) -> list[dict[str, Any]]:
        """Run a cell; returns its outputs."""
        content = {"code": code, "silent": False, "store_history": True, "allow_stdin": False, "stop_on_error": True}
        message = self.client.session.msg("execute_request", content, metadata={"tags": list(tags)})
        self.client.shell_channel.send(message)
        found = []
        while True:
            reply = self.client.get_iopub_msg(timeout=120)
            if reply["parent_header"].get("msg_id") != message["header"]["msg_id"]:
                continue
            if reply["msg_type"] == "status" and reply["content"]["execution_state"] == "idle":
                return found
            if reply["msg_type"] in ("stream", "display_data", "execute_result", "update_display_data", "error"):
                found.append({"type": reply["msg_type"], **reply["content"]})


@pytest.fixture(scope="module")
def kernel() -> Iterator[Kernel]:
    manager = KernelManager(transport="tcp", kernel_name="python3")
    manager.start_kernel()
    client = manager.client()
    client.start_channels()
    client.wait_for_ready(timeout=120)
    opened = Kernel(client)
    assert opened.run("from workshop.exercises import check") == []
    yield opened
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def test_what_a_guess_shows_is_folded_in_order(kernel: Kernel) -> None:
    (shown,) = kernel.run(MIXED, "guess")
    page = shown["data"]["text/html"]
    parts = (
        f'<details class="kit-folded"><summary>{FOLDED}</summary><pre>one &lt;two&gt;\n</pre>',
        "<b>three</b>",
        "<pre>four\n</pre>",
        '<img width="9" src="data:image/png;base64,iVBOR',
        "<pre>5</pre></details>",
    )
    places = [page.find(part) for part in parts]
    assert -1 not in places and places == sorted(places), page
    assert "one" not in shown["data"]["text/plain"]


def test_other_cells_show_what_they_show(kernel: Kernel) -> None:
    kernel.run("1", "guess")
    found = kernel.run("print('seen')\n7", "exercise")
    assert [one["type"] for one in found] == ["stream", "execute_result"] and found[0]["text"] == "seen\n"


def test_a_guess_that_fails_shows_all_it_has(kernel: Kernel) -> None:
    found = kernel.run("print('before')\ndisplay(3)\n1 / 0\n", "guess")
    texts = [one.get("text") or one.get("ename") or one["data"]["text/plain"] for one in found]
    assert sorted(texts) == ["3", "ZeroDivisionError", "before\n"]
    assert kernel.run("4")[0]["data"] == {"text/plain": "4"}, "and nothing is kept afterwards"


def test_a_guess_that_shows_nothing_has_no_output(kernel: Kernel) -> None:
    assert kernel.run("x = 1", "guess") == []


def test_what_is_drawn_again_stays_where_it_is(kernel: Kernel) -> None:
    found = kernel.run("handle = display(1, display_id=True)\nhandle.update(2)\nprint('folded')", "guess")
    assert [one["type"] for one in found] == ["display_data", "update_display_data", "display_data"]
    assert "folded\n" in found[2]["data"]["text/html"]


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("a\n<b>", "<pre>a\n&lt;b&gt;</pre>"),
        ({"data": {"text/plain": "<x>", "text/html": "<i>x</i>"}, "metadata": {}}, "<i>x</i>"),
        ({"data": {"text/plain": "<x>"}, "metadata": {}}, "<pre>&lt;x&gt;</pre>"),
        (
            {"data": {"image/png": "AA==", "text/plain": "x"}, "metadata": {"image/png": {"width": 5, "height": 6.0}}},
            '<img width="5" height="6" src="data:image/png;base64,AA==">',
        ),
        ({"data": {"application/json": {}}, "metadata": {}}, "<pre>application/json</pre>"),
        ({"data": {"image/png": b"\x89PNG"}, "metadata": {}}, '<img src="data:image/png;base64,iVBORw==">'),
    ],
)
def test_an_output_as_html(output: Any, expected: str) -> None:
    assert as_html(output) == expected

"""The page that a tool service shows to people: pools, queues, workers; it loads itself again every two seconds."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

_STYLE = (
    ":root{color-scheme:light dark}"
    "body{font:15px/1.5 system-ui,sans-serif;margin:1.5em auto;max-width:60em;padding:0 1em}"
    "h2{font-size:1.1em;margin:1.6em 0 0}p{margin:.2em 0}.tools{opacity:.75;font-size:.87em}.bad{font-weight:bold}"
    "table{border-collapse:collapse;table-layout:fixed;width:100%;margin-top:.3em;font-variant-numeric:tabular-nums}"
    "th,td{text-align:left;vertical-align:top;padding:.2em .8em .2em 0;border-bottom:1px solid #8886}"
    "th{font-weight:normal;opacity:.75;font-size:.87em;width:4.2em}th:first-child{width:4.6em}"
    "th:last-child{width:auto}td{overflow-wrap:anywhere}"
)


def page(health: Mapping[str, Any]) -> str:
    """HTML of a service's health (:meth:`visual_tools.serve.app.Service.health`)."""
    status = escape(health["status"])
    kept = f"{health['trajectories']} trajectories, {health['image_bytes'] / 1e6:.1f} MB of images"
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="2">'
        f'<meta name="viewport" content="width=device-width"><title>Tools: {status}</title><style>{_STYLE}</style>'
        f'<h1>Tools: {status}</h1><p>{kept}. <a href="/metrics">metrics</a> · <a href="/health">health</a> · '
        f'<a href="/tools">tools</a></p>{"".join(_pool(name, pool) for name, pool in health["pools"].items())}</html>'
    )


def _pool(name: str, pool: Mapping[str, Any]) -> str:
    """A pool's queue, its tools, and a row for each worker."""
    rows = "".join(_row(worker) for worker in pool["workers"])
    return (
        f"<h2>{escape(name)}: {pool['waiting']} waiting</h2><p class=tools>{escape(', '.join(pool['tools']))}</p>"
        f"<table><tr><th>worker<th>pid<th>restarts<th>why it last ended</tr>{rows}</table>"
    )


def _row(worker: Mapping[str, Any]) -> str:
    bad = " class=bad" if worker["state"] == "failed" else ""
    cells = (worker["pid"] or "–", worker["restarts"], worker["problem"])
    return f"<tr><td{bad}>{worker['state']}{''.join(f'<td>{escape(str(cell))}' for cell in cells)}</tr>"

"""The page that a tool service shows to people: pools, workers, queues; it loads itself again every two seconds."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

_STYLE = (
    "body{font:15px system-ui,sans-serif;margin:2em;max-width:70em;color-scheme:light dark}"
    "table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.3em .8em;border-bottom:1px solid #8886}"
)


def page(health: Mapping[str, Any]) -> str:
    """HTML of a service's health (:meth:`kit.tools.serve.app.Service.health`)."""
    rows = [
        "".join(
            f"<td>{escape(str(cell))}</td>"
            for cell in (
                name if k == 0 else "",
                ", ".join(pool["tools"]) if k == 0 else "",
                pool["waiting"] if k == 0 else "",
                worker["state"],
                worker["pid"],
                worker["restarts"],
                worker["problem"],
            )
        )
        for name, pool in health["pools"].items()
        for k, worker in enumerate(pool["workers"])
    ]
    heads = "".join(
        f"<th>{head}</th>" for head in ("pool", "tools", "waiting", "worker", "pid", "restarts", "last end")
    )
    kept = f"{health['trajectories']} trajectories, {health['image_bytes'] / 1e6:.1f} MB of images"
    return (
        '<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="2"><title>Tools</title>'
        f"<style>{_STYLE}</style><h1>Tools: {escape(health['status'])}</h1><p>{kept}. "
        '<a href="/metrics">metrics</a> · <a href="/health">health</a> · <a href="/tools">tools</a></p>'
        f"<table><tr>{heads}</tr>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"
    )

"""HTML for notebooks: one look for light and dark pages, pictures as small as they may be, nothing to inject.

Output stands alone (no script, no network) and is readable with its style sheet stripped, as a notebook
that isn't trusted yet is shown: tokens are ``<u>`` (policy) and ``<i>`` (environment, prompt), so even
then they differ by more than colour.
"""

from __future__ import annotations

import base64
import html
import io
import re
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from kit.episode import NamedImage
from kit.files import write_text

SIDE = 200
"""Pictures are shown at most so wide and high (pixels)."""

PICTURE_BYTES = 26_000
"""What one view's pictures may take, encoded; beyond it they get smaller, then coarser."""

_LADDER = ((SIDE, 85), (SIDE, 70), (160, 70), (128, 65), (96, 60), (64, 50))
"""(Longest side, JPEG quality), tried in this order until all pictures of a view fit."""

_LIGHT = (
    "--b:var(--jp-layout-color0,#fff);--f:var(--jp-content-font-color1,#1c1c1c);--m:#5c5c5c;--l:#c9c9c9;"
    "--s:#f5f5f5;--pl:#0072b2;--el:#767676;--u:#0072b2;--d:#d55e00"
)
_DARK = (
    "--b:var(--jp-layout-color0,#141414);--f:var(--jp-content-font-color1,#ececec);--m:#a9a9a9;--l:#4a4a4a;"
    "--s:#212121;--pl:#56b4e9;--el:#9a9a9a;--u:#56b4e9;--d:#e69f00"
)

STYLE = f"""<style>
.kv{{{_LIGHT};background:var(--b);color:var(--f);font:13px/1.5 system-ui,sans-serif;padding:10px;border-radius:8px}}
@media(prefers-color-scheme:dark){{.kv{{{_DARK}}}}}
[data-jp-theme-light=true] .kv{{{_LIGHT}}}
[data-jp-theme-light=false] .kv,.vscode-dark .kv{{{_DARK}}}
.kv *{{box-sizing:border-box}}
.kv header{{display:flex;flex-wrap:wrap;gap:2px 14px;align-items:baseline;margin:0 0 6px}}
.kv header b{{font-size:14px}}
.kv small{{font-size:11.5px;color:var(--m)}}
.kv .x{{margin-top:14px}}
.kv .g{{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(260px,100%),1fr));gap:10px;align-items:start}}
.kv section{{border:1px solid var(--l);border-radius:6px;padding:8px 10px;min-width:0}}
.kv .w{{grid-column:1/-1}}
.kv .t{{border-left:4px solid var(--el);background:var(--s);margin:6px 0;padding:4px 8px;white-space:pre-wrap;
overflow-wrap:anywhere;unicode-bidi:isolate}}
.kv .p{{border-left-color:var(--pl)}}
.kv .e{{border-left-style:dotted}}
.kv .k{{display:block;font:12px/1.55 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}}
.kv u{{text-decoration:underline var(--x,solid 1.5px) var(--c,var(--pl));text-underline-offset:3px;
background:color-mix(in srgb,var(--c,var(--pl)) calc(var(--a,18%)*var(--w,1)),transparent)}}
.kv i{{font-style:normal;color:var(--m);text-decoration:underline dotted 1px var(--el);text-underline-offset:3px}}
.kv .p u:nth-of-type(even):not([style]){{--w:.55}}
.kv .u{{--c:var(--u);--x:solid 2px}}
.kv .d{{--c:var(--d);--x:wavy 1px}}
.kv s{{text-decoration:none;opacity:.75;font:11px ui-monospace,Menlo,Consolas,monospace}}
.kv figure{{display:inline-block;margin:6px 10px 0 0;vertical-align:top;font-size:11.5px;color:var(--m)}}
.kv figure img{{display:block;border:1px solid var(--l);border-radius:2px;margin:0;max-width:100%;height:auto}}
.kv .m{{display:flex;height:14px;border:1px solid var(--l);border-radius:3px;overflow:hidden;margin:2px 0 8px}}
.kv .m u{{background:var(--pl);text-decoration:none}}
.kv .m i{{background:repeating-linear-gradient(135deg,var(--el) 0 1px,transparent 1px 5px);text-decoration:none}}
.kv .m i:first-child{{background:none}}
.kv summary{{cursor:pointer}}
</style>"""

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


class Html:
    """HTML that shows itself in a notebook and can be saved as a page."""

    def __init__(self, body: str, title: str) -> None:
        self.body = body
        self.title = title

    def __repr__(self) -> str:
        return f"<{self.title}>"

    def _repr_html_(self) -> str:
        return f'{STYLE}<div class="kv">{self.body}</div>'

    def save(self, path: str | Path) -> Path:
        """Write a page that stands alone and follows the reader's light or dark setting.

        Raises:
            OSError: the page can't be written.
        """
        head = '<meta charset="utf-8"><meta name="color-scheme" content="light dark"><style>body{margin:8px}</style>'
        page = f'<!doctype html><html lang="en">{head}<title>{clean(self.title)}</title>{self._repr_html_()}</html>\n'
        write_text(Path(path), page)
        return Path(path)


def clean(text: str) -> str:
    """``text`` as harmless HTML: markup escaped, control characters and lone surrogates made visible."""
    text = text.encode("utf-8", "replace").decode()
    return html.escape(
        _CONTROL.sub(lambda found: "␡" if found[0] == "\x7f" else chr(0x2400 + ord(found[0])), text), quote=True
    )


def _encode(image: Image.Image, side: int, quality: int) -> str:
    """A data URL of ``image`` no larger than ``side``: PNG or JPEG, whichever is shorter."""
    small = image.convert("RGB")
    small.thumbnail((side, side), Image.Resampling.LANCZOS)
    best = ("", b"")
    for kind in ("PNG", "JPEG"):
        buffer = io.BytesIO()
        if kind == "PNG":
            small.save(buffer, kind, optimize=True)
        else:
            small.save(buffer, kind, quality=quality, optimize=True)
        if not best[1] or len(buffer.getvalue()) < len(best[1]):
            best = (kind.lower(), buffer.getvalue())
    return f"data:image/{best[0]};base64,{base64.b64encode(best[1]).decode()}"


def figures(pictures: Sequence[NamedImage], budget: int = PICTURE_BYTES) -> list[str]:
    """One ``<figure>`` a picture: its name and true size under it, all of them within ``budget`` bytes if they can."""
    encoded: list[str] = []
    for side, quality in _LADDER:
        encoded = [_encode(picture.image, side, quality) for picture in pictures]
        if sum(map(len, encoded)) <= budget:
            break
    found = []
    for picture, url in zip(pictures, encoded, strict=True):
        width, height = picture.image.size
        # As large as it is, up to SIDE; toy pieces, which have 56 pixels, a little larger.
        scale = min(max(1.0, 72 / width), SIDE / width, SIDE / height)
        true = f"{width} × {height}"
        name = clean(picture.name)
        img = f'<img src="{url}" alt="{name}, {true} pixels" width="{width * scale:.0f}" height="{height * scale:.0f}">'
        found.append(f"<figure>{img}{name} <small>{true}</small></figure>")
    return found

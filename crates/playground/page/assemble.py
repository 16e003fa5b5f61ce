#!/usr/bin/env python3
"""Puts the page of the playground together as one file: assemble.py MODULE.wasm PAGE.html"""

import base64
import gzip
import pathlib
import sys

HERE = pathlib.Path(__file__).parent


def main(module, page):
    raw = pathlib.Path(module).read_bytes()
    packed = gzip.compress(raw, 9, mtime=0)
    html = (HERE / "playground.html").read_text()
    for name in ["playground.css", "worker.js", "playground.js"]:
        html = html.replace("{{" + name + "}}", (HERE / name).read_text())
    html = html.replace("{{module}}", base64.b64encode(packed).decode())
    pathlib.Path(page).write_text(html)
    print(f"{page}: {len(html):,} bytes; module {len(raw):,} bytes, {len(packed):,} by gzip")


main(*sys.argv[1:])

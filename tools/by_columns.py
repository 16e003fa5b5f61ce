#!/usr/bin/env python3
"""Writes a CSV table by columns, as `crates/core/src/reading/columns.rs` reads it: what is measured compresses better apart.

    tools/npb_to_pattern.py cg.W.16.tsv.zst | tools/by_columns.py | zstd --ultra -22 --long=27 > patterns/npb-cg-W-16.csv.zst

A column of whole numbers with one unit (`delay`) is written as planes of bytes, the others as text.
"""

import re
import sys


def planes(values: list[str]) -> bytes | None:
    """The column as planes of bytes, if it is whole numbers with one unit that are read back as they were."""
    found = [re.fullmatch(r"(0|[1-9][0-9]*)([a-zA-Z]+)", value) for value in values]
    units = {match[2] for match in found if match}
    if not values or None in found or len(units) != 1:
        return None
    numbers = [int(match[1]) for match in found if match]
    width = max(1, (max(numbers).bit_length() + 7) // 8)
    if width > 8:
        return None
    body = b"".join(bytes(number >> 8 * plane & 255 for number in numbers) for plane in range(width))
    return f"planes {width} {units.pop()}\n".encode() + body


def main() -> None:
    """From standard input to standard output."""
    lines = sys.stdin.read().removesuffix("\n").split("\n")
    header = next(i for i, line in enumerate(lines) if not line.startswith("#"))
    rows = [line.split(",") for line in lines[header + 1 :]]
    if '"' in "".join(lines) or any(len(row) != len(rows[0]) for row in rows):
        sys.exit("rows have as many values as there are columns, and no quotes")
    out = sys.stdout.buffer
    out.write("\n".join(["hayase-columns-1", *lines[: header + 1], str(len(rows)), ""]).encode())
    for column in zip(*rows):
        text = "\n".join(column).encode()
        out.write(planes(list(column)) or f"text {len(text)}\n".encode() + text)


if __name__ == "__main__":
    main()

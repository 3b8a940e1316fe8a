#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The Swift listings of Apple's page on BNNSGatherND, as a program.

usage: tests/compat/bnns_listings.py DOCUMENT >main.swift

DOCUMENT is the text of that page, in which most line breaks have become spaces. They are put back
before each statement; nothing else is changed. Every listing stands in a block of its own, after
the values that all of them share, and is followed by a line that prints its output.
"""

import re
import sys
from pathlib import Path


def with_line_breaks(listing):
    return re.sub(r"\s+(?=(?:let|var) )", "\n", listing)


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        raise SystemExit(__doc__)
    text = Path(sys.argv[1]).read_text(encoding="utf-8")
    shared = re.search(r"let values: .*?\(3, 2, 2\)\)", text, re.DOTALL)
    listings = re.findall(r"let indices: .*?\bnil\)", text, re.DOTALL)
    if shared is None or len(listings) != 3:
        raise SystemExit(f"{sys.argv[1]}: no values, or not three listings but {len(listings)}")
    print("import Accelerate")
    print(with_line_breaks(shared[0]))
    for listing in listings:
        print("do {")
        print(with_line_breaks(listing))
        print("print(error, outputDescriptor.makeArray(of: Float.self)!)")
        print("}")


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints scripts/coverage's table from what gcovr wrote: KEPT.json, ALL.json (with the branches that
are left out of the first) and the folders."""

import json
import re
import subprocess
import sys
from pathlib import Path

MARKER = re.compile(r"(?:GCOVR?|LCOV)_EXCL(?:_BR)?_(LINE|START|STOP)")


def files_below(report, folder):
    return [file for file in report["files"] if file["file"].startswith(folder + "/")]


def counts(files):
    """Reached and all lines, reached and all branches."""
    lines = [line for file in files for line in file["lines"] if not line["gcovr/noncode"]]
    branches = [branch for line in lines for branch in line["branches"]]
    return (sum(line["count"] > 0 for line in lines), len(lines),
            sum(branch["count"] > 0 for branch in branches), len(branches))


def marked_lines(path):
    """How many lines of a file its markers leave out, each marker's own included."""
    marked, inside = 0, False
    for line in Path(path).read_text().splitlines():
        marker = MARKER.search(line)
        inside = inside or (marker is not None and marker[1] == "START")
        marked += inside or marker is not None
        inside = inside and not (marker is not None and marker[1] == "STOP")
    return marked


def percent(part, whole):
    return f"{100 * part / whole if whole else 100:5.1f} % {part:6}/{whole:<6}"


def main():
    kept, everything = (json.loads(Path(path).read_text()) for path in sys.argv[1:3])
    absent = []
    print(f"{'folder':16} {'lines':>21} {'branches':>21}   left out:"
          f"{'marked':>7} {'exceptions':>11} {'not built':>10}")
    for folder in sys.argv[3:]:
        reached, lines, taken, branches = counts(files_below(kept, folder))
        left_out = counts(files_below(everything, folder))[3] - branches
        listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", folder],
                                check=True, capture_output=True, text=True).stdout.split()
        sources = [name for name in listed if Path(name).suffix in (".cc", ".h", ".cu", ".cuh")]
        built = {file["file"] for file in files_below(everything, folder)}
        unbuilt = [name for name in sources if name not in built and Path(name).suffix != ".h"]
        absent += unbuilt
        print(f"{folder:16} {percent(reached, lines):>21} {percent(taken, branches):>21}"
              f"{'':13}{sum(map(marked_lines, sources)):7} {left_out:11} {len(unbuilt):10}")
    if absent:
        print("not built: " + " ".join(absent))


if __name__ == "__main__":
    main()

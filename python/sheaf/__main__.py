# SPDX-License-Identifier: MIT
"""python -m sheaf, and the command `sheaf`."""

import sys

from ._config import main


def run() -> None:
    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    run()

"""The command line of xrsim, as `python -m xrsim` and as the script `xrsim` of the package."""

from __future__ import annotations

import sys

from ._xrsim import main as run


def main() -> int:
    """Run the command that the arguments of the process describe. Return the exit status."""
    return run(["xrsim", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())

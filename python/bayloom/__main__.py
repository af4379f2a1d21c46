# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""`python -m bayloom`: the program."""

import os
import sys

from .program import CommandFailed, executable


def main() -> None:
    try:
        program = executable()
    except CommandFailed as error:
        sys.exit(f"bayloom: {error}")
    os.execv(program, [program, *sys.argv[1:]])


if __name__ == "__main__":
    main()

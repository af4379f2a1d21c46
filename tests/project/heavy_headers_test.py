#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""No public header brings libraries of 80,000 lines and more to those who include it, but where its
interface consists of their types.

    heavy_headers_test.py ROOT
"""

import functools
import pathlib
import re
import subprocess
import sys

INCLUDE = re.compile(r'^ *# *include *[<"]([^>"]+)[>"]', re.MULTILINE)
HEAVY = {"Eigen", "CLI", "llvm"}
# Module model takes rows of numbers and returns vectors, and these hand them on; code in memory is
# LLVM's.
ALLOWED = re.compile(r"bayloom/(model/.*|optimizer/transfer_data\.h"
                     r"|experimental/transfer/stacking\.h|codegen/object\.h)")


def main(root):
    @functools.cache
    def includes_of(file):
        path = root / file
        return INCLUDE.findall(path.read_text()) if path.is_file() else []

    def reached_from(file):
        reached, waiting = {file}, [file]
        while waiting:
            new = set(includes_of(waiting.pop())) - reached
            reached |= new
            waiting += new
        return reached

    listed = subprocess.run([root / "scripts/check_layers", "--public", root], check=True,
                            capture_output=True, text=True).stdout.split()
    assert len(listed) > 100, "scripts/check_layers --public lists hardly any headers"
    complaints = []
    for header in listed:
        found = {file for file in reached_from(header) if file.split("/")[0] in HEAVY}
        if found and not ALLOWED.fullmatch(header):
            complaints.append(f"{header}: reaches {', '.join(sorted(found))}")
    print("\n".join(complaints), end="")
    return 1 if complaints else 0


sys.exit(main(pathlib.Path(sys.argv[1])))

# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Drives a search from Python: 'bayloom serve' chooses, this program evaluates.

    python3 examples/search/ask_tell.py build/release/bin/bayloom
"""

import json
import math
import pathlib
import subprocess
import sys
import tempfile


class Search:
    """One JSON object a line to 'bayloom serve', one back."""

    def __init__(self, program, scenario, database):
        command = [program, "serve", str(scenario), "--db", database, "--resume"]
        self.server = subprocess.Popen(command, stdin=-1, stdout=-1, text=True)

    def request(self, **request):
        self.server.stdin.write(json.dumps(request) + "\n")
        self.server.stdin.flush()
        answer = json.loads(self.server.stdout.readline())
        if "error" in answer:
            raise ValueError(answer["error"])
        return answer

    def ask(self, count=1):
        return self.request(ask=count)["configurations"]

    def tell(self, configuration, **outcome):
        return self.request(tell=configuration, **outcome)["best"]


def evaluate(tile, unroll, order):
    """Stands for compiling and timing a kernel. Large tiles do not fit."""
    if tile * unroll > 256:
        return {"feasible": False, "reason": "out of memory"}
    moved = sum(abs(place - item) for place, item in enumerate(order))
    return {"cost": 1 + abs(math.log2(tile / 16)) + abs(math.log2(unroll / 4)) + moved}


def main():
    scenario = pathlib.Path(__file__).with_suffix(".yaml")
    with tempfile.TemporaryDirectory() as folder:
        search = Search(sys.argv[1], scenario, folder + "/ask_tell.db")
        best = None
        for _ in range(40):
            for configuration in search.ask():
                best = search.tell(configuration, **evaluate(**configuration))
        search.server.stdin.close()
        search.server.wait()
    print(best)
    sys.exit(0 if best["value"] <= 3 else 1)


if __name__ == "__main__":
    main()

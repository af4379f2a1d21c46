# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""The recorded GPU kernel of the examples, as Python programs search it."""

import gzip
import json
import pathlib

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples" / "search" / "recorded"
RECORD = FOLDER / "convolution_A4000_T4.json.gz"


def space():
    """The values of each parameter, and the constraints."""
    with open(FOLDER / "convolution_T1.json") as file:
        given = json.load(file)["ConfigurationSpace"]
    values = {each["Name"]: json.loads(each["Values"]) for each in given["TuningParameters"]}
    return values, [condition["Expression"] for condition in given["Conditions"]]


class Recorded:
    """What was measured; a call fails where nothing was."""

    def __init__(self, path=RECORD):
        with gzip.open(path) as file:
            results = json.load(file)["results"]
        self._values = {}
        for result in results:
            if result["invalidity"] == "correct":
                measured = {each["name"]: each["value"] for each in result["measurements"]}
                self._values[self._key(result["configuration"])] = measured["time"]
        self.best = min(self._values.values())

    @staticmethod
    def _key(params):
        return tuple(sorted(params.items()))

    def __call__(self, params):
        return self._values[self._key(params)]

# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Databases, to be read."""

import json
import os
from typing import Optional, Union

from . import _core, program
from .frames import frame_if_possible


class Database:
    """The runs and trials that a database keeps; it is not changed."""

    def __init__(self, path: Union[str, os.PathLike]):
        self.path = os.fspath(path)
        self._records = _core.Database(self.path)

    def run_records(self) -> list:
        """All runs, a dict each, oldest first: `kind` is "search", "map", "tune" or "dataset"."""
        return self._records.runs()

    def trial_records(self, run: Optional[int] = None) -> list:
        """The trials of a run, or of all, a dict each. `params` is the configuration of a search;
        what other runs try is in `candidate`, as JSON."""
        tasks = self._records.tasks()
        runs = [r for r in self._records.runs() if run is None or r["run"] == run]
        trials = []
        for each in runs:
            for trial in self._records.trials(each["run"]):
                candidate = json.loads(trial["candidate"])
                if each["kind"] == "search":
                    trial["params"], trial["candidate"] = candidate, None
                else:
                    trial["params"], trial["candidate"] = {}, candidate
                trial.update(kind=each["kind"], name=each["name"], task=tasks.get(trial["task"]))
                trials.append(trial)
        return trials

    @property
    def runs(self):
        """All runs as a frame of pandas; without pandas, a list of dicts."""
        return frame_if_possible(self.run_records())

    @property
    def trials(self):
        """All trials as a frame of pandas with a column `params_NAME` for each parameter; without
        pandas, a list of dicts."""
        rows = []
        for trial in self.trial_records():
            params, values = trial.pop("params"), trial.pop("values")
            rows.append({**trial, **{f"params_{name}": value for name, value in params.items()},
                         **{f"values_{name}": value for name, value in values.items()}})
        return frame_if_possible(rows)

    def tasks(self) -> dict:
        """The names of the operators that were tuned, by their numbers."""
        return self._records.tasks()

    def explain(self, task: int, *, target: Optional[str] = None,
                threads: Optional[int] = None) -> dict:
        """Why the best program of a task (one of `tasks`) is fast, as `bayloom show --why` says it.

        `sentences` says it in words, most important first. The numbers behind them: `seconds`,
        `techniques`, `limits` (seconds that arithmetic and memory of the machine take at least, and
        the `share` of it that is used; where the machine was measured), `decisions` of the schedule
        with how much hangs on each, `beside_default` and `runner_up` with their `ratio` of times
        and their `differences`. Where the database has trials of several machines, `target` and
        `threads` choose one, as in `tune`.

            >>> _ = bayloom.tune(op="matmul:64,64,64", trials=16, threads=1, seed=1, db="why.db")
            >>> database = bayloom.open("why.db")
            >>> [task] = database.tasks()
            >>> why = database.explain(task)
            >>> why["seconds"] > 0, len(why["sentences"]) > 0
            (True, True)

        Raises InputError for a task that the database has not or that has no program, NoCompiler
        where the package was built without the compiler.
        """
        shown = program.run(["show", self.path, "--task", str(task), "--why",
                             *program.options(target=target, threads=threads)])
        if "why" not in shown:
            raise _core.InputError(f"{self.path}: none of the trials of task {task} gave a program "
                                   "that could be made again")
        return shown["why"]

    def export(self, path: Union[str, os.PathLike], format: str = "jsonl",
               run: Optional[int] = None) -> None:
        """Writes records to a file, for other programs.

        `format` is "jsonl", all records for `bayloom records import`; or, of the search `run`
        (default the last), "csv", "t4" (a recorded space of Kernel Tuner), "kernel-tuner-cache"
        (what its option `cache` names), "optuna" (a journal:
        `optuna.storages.JournalStorage(JournalFileBackend(path))`) or "google-benchmark" (a report
        in JSON, where the objective is a time).

        Raises InputError for what has no such form.
        """
        arguments = ["records", "export", self.path, "--out", os.fspath(path)]
        if format != "jsonl":
            searches = [each["run"] for each in self.run_records() if each["kind"] == "search"]
            if run is None and not searches:
                raise _core.InputError(f"{self.path} holds no search")
            arguments += ["--run", str(searches[-1] if run is None else run), "--format", format]
        program.call(arguments)

    def __repr__(self) -> str:
        return f"Database({self.path!r})"


def open(path: Union[str, os.PathLike]) -> Database:
    """A database of `Study`, `tune`, `map`, `search` or of the program `bayloom`, to be read.

    Raises InputError if it is none, MachineError if it cannot be read.
    """
    return Database(path)

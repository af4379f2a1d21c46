# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Tuning networks, mapping onto accelerators, searching scenario files: what the program does."""

import os
from dataclasses import dataclass, field
from typing import Any, Callable, Iterable, Mapping, Optional, Sequence, Union

from . import _core, program
from .database import Database
from .frames import frame

Path = Union[str, "os.PathLike[str]"]
Extents = Mapping[str, Union[int, str, Sequence[int]]]


class _NewTrials:
    """Calls back for each trial that a command adds to its database, which it reads meanwhile.

    A trial is in the database before anything is learnt from it, so none is missed.
    """

    def __init__(self, database: str, callbacks: Iterable[Callable]):
        self._database, self._callbacks = database, list(callbacks)
        self._seen: dict = {}  # how many trials of each run
        for run, _ in self._new():
            self._seen[run] = self._seen.get(run, 0) + 1

    def _new(self) -> list:
        """Runs and their trials that were not seen."""
        if not self._callbacks or not os.path.exists(self._database):
            return []
        records = _core.Database(self._database)
        runs = [each["run"] for each in records.runs()]
        return [(run, trial) for run in runs
                for trial in records.trials(run, self._seen.get(run, 0))]

    def __call__(self) -> None:
        for run, trial in self._new():
            self._seen[run] = self._seen.get(run, 0) + 1
            for callback in self._callbacks:
                callback(trial)


def _worker_commands(workers: Sequence[str], pool: Any) -> list:
    """The commands of all workers; `pool` is one of `bayloom.ray_pool.RayPool`, or None."""
    return [*workers, *(pool.commands() if pool is not None else [])]


@dataclass(frozen=True)
class TuneResult:
    """What a tuning has achieved.

    `tasks` has a dict for each operator, `latency_seconds` is what the network takes, `gain` compares with
    the default programs, `end` says why it ended, `database` keeps everything. With several
    objectives `front` has a dict of their values for each network that none other beats. `prior`
    says of how many `trials` and `tasks` the model has learnt that the tuning began with; it is
    empty where there was none.
    """

    database: str
    session: int
    trials: int
    end: str
    latency_seconds: float
    gain: dict
    tasks: list
    front: list
    prior: dict = field(default_factory=dict)

    def frame(self):
        """The tasks as a frame of pandas."""
        return frame(self.tasks)


def tune(model: Optional[Path] = None, *, op: Optional[str] = None, trials: Optional[int] = None,
         time: Union[float, str, None] = None, threads: Optional[int] = None, seed: int = 0,
         db: Optional[Path] = None, resume: bool = False, dims: Optional[Extents] = None,
         bounds: Optional[Mapping[str, int]] = None,
         shapes: Optional[Mapping[str, str]] = None, freeze: Optional[Mapping[str, Any]] = None,
         target: Optional[str] = None, strategy: Optional[str] = None,
         objective: Optional[str] = None, divisions: Optional[str] = None,
         derivations: Optional[str] = None,
         learn_from: Union[Path, Sequence[Path], None] = None, partial: bool = False,
         workers: Sequence[str] = (), pool: Any = None,
         callbacks: Iterable[Callable[[dict], None]] = (), verbose: bool = False) -> TuneResult:
    """Finds fast programs for an ONNX model, or for one operator such as op="matmul:512,512,512".

    `time` is in seconds, or a text such as "10m". `dims` gives dimensions that the model leaves
    open their extents, one or several; `bounds`, `shapes` and `freeze` are as `--bound`, `--shape`
    and `--freeze` of the program. `db` keeps every trial; without it, it is MODEL.db. `callbacks` get each trial as it
    ends, a dict with `number`, `value` (seconds) and `reason`; one that raises `bayloom.Stopped`
    lets the tuning end. After an interruption `resume=True` goes on. `workers` are commands such as
    "ssh board bayloom worker" that measure the programs, `pool` a `bayloom.ray_pool.RayPool` whose
    machines do. With a `target` such as "aarch64-linux-gnu" they may be of another architecture:
    "ssh board ./bayloom-worker" (docs/workers.md). `objective` such as "latency,size" has the result
    hold a Pareto front of networks (docs/libraries.md#small-libraries). `divisions` "none" leaves
    out regions as one task where they can be several (docs/scheduling.md#tasks-in-place-of-others),
    `derivations` "none", or names such as "winograd-2x2", algorithms beside the definition.
    `learn_from` is as `--learn-from` of the program (docs/learning.md): with "store" the tuning begins
    with a model of what earlier ones have measured on this machine, if that was enough.

    Raises InputError for a model that cannot be tuned, NoCompiler (an ImportError) where the
    package was built without the compiler.
    """
    if db is None:
        stem = os.path.splitext(os.path.basename(os.fspath(model)))[0] if model else "operators"
        db = stem + ".db"
    database = os.fspath(db)
    arguments = ["tune", *([os.fspath(model)] if model is not None else []),
                 *program.options(op=op, trials=trials, time=time, threads=threads, seed=seed,
                                  db=database, resume=resume, dim=dims, bound=bounds, shape=shapes,
                                  freeze=freeze, target=target, strategy=strategy,
                                  objective=objective, divisions=divisions, derivations=derivations,
                                  learn_from=learn_from, partial=partial,
                                  workers=_worker_commands(workers, pool))]
    new_trials = _NewTrials(database, callbacks)
    result = program.run(arguments, verbose=verbose, poll=new_trials)
    return TuneResult(database=database, session=result["session"], trials=result["trials"],
                      end=result["end"], latency_seconds=result["total"], gain=result["gain"],
                      tasks=result["tasks"], front=result.get("front", []),
                      prior=result.get("prior", {}))


def compile(model: Path, out: Path = ".", *, name: Optional[str] = None, db: Optional[Path] = None,
            threads: Optional[int] = None, dims: Optional[Extents] = None,
            bounds: Optional[Mapping[str, int]] = None,
            shapes: Optional[Mapping[str, str]] = None, freeze: Optional[Mapping[str, Any]] = None,
            target: Union[str, Sequence[str], None] = None, effort: Optional[str] = None,
            prefer: Optional[str] = None, max_size: Union[int, str, None] = None,
            max_memory: Union[int, str, None] = None, max_slowdown: Union[float, str, None] = None,
            divisions: Optional[str] = None, derivations: Optional[str] = None,
            cache: Optional[str] = None, verbose: bool = False) -> str:
    """Compiles an ONNX model to a shared library without dependencies, with the programs that
    `tune` found; the path of the library, for `bayloom.load`. A C header lies beside it.

    `target` names processors, such as "x86-64-v3", default this one; `effort` is how long programs
    of operators that were not tuned are chosen: "none", "low", "normal" or "high".
    `prefer`, "latency", "size" or "memory", and the limits choose among the programs found: bytes,
    also as "400k", and a share of the fastest time, such as 0.1 (docs/libraries.md#small-libraries).
    `dims`, `bounds`, `divisions` and `derivations` are as in `tune`. `cache` is the type in which a
    decoder keeps keys and values, "model", "f32", "f16" or "bf16"; with any, caches of fixed size
    become states.
    """
    targets = target if target is None or isinstance(target, str) else ",".join(target)
    arguments = ["compile", os.fspath(model),
                 *program.options(out=out, name=name, db=db, threads=threads, dim=dims,
                                  bound=bounds, shape=shapes, freeze=freeze, target=targets, effort=effort,
                                  prefer=prefer, max_size=max_size, max_memory=max_memory,
                                  max_slowdown=max_slowdown, divisions=divisions,
                                  derivations=derivations, cache=cache)]
    return program.run(arguments, verbose=verbose)["library"]


@dataclass(frozen=True)
class MapResult:
    """The best mappings found.

    `layers` has a dict for each operation: its `mapping`, and what the `model` says of it (energy,
    cycles, accesses of each tensor at each level). Of a single operation these are also
    `mapping` and `statistics`, and `value` is its objective.
    """

    objective: str
    architecture: str
    mapper: str
    end: str
    evaluations: int
    seconds: float
    layers: list
    totals: dict = field(default_factory=dict)
    improvements: list = field(default_factory=list)

    @property
    def mapping(self) -> dict:
        return self._only()["mapping"]

    @property
    def statistics(self) -> dict:
        return self._only()["model"]

    @property
    def value(self) -> float:
        return self._only()["value"]

    def _only(self) -> dict:
        if len(self.layers) != 1:
            raise ValueError(f"there are {len(self.layers)} layers; see 'layers'")
        return self.layers[0]

    def frame(self):
        """A frame of pandas with a row for each layer, level and tensor."""
        rows = []
        for layer in self.layers:
            about = {name: value for name, value in layer.items()
                     if isinstance(value, (str, int, float))}
            for level in layer.get("model", {}).get("levels", []):
                for tensor, accesses in level["tensors"].items():
                    rows.append({**about, "level": level["name"], "tensor": tensor, **accesses})
        return frame(rows)


def map(subject: Path, architecture: Path, *, objective: str = "energy",
        evaluations: Optional[int] = None, time: Union[float, str, None] = None,
        mapper: Optional[str] = None, seed: int = 0, db: Optional[Path] = None,
        resume: bool = False, constraints: Sequence[Path] = (), evaluator: Optional[str] = None,
        jobs: Optional[int] = None, dims: Optional[Extents] = None, out: Optional[Path] = None,
        workers: Sequence[str] = (), pool: Any = None,
        verbose: bool = False) -> MapResult:
    """Searches for the best mappings of an operation or of a network's onto an accelerator.

    `subject` is an ONNX model, a Timeloop problem (.yaml), or an operation such as
    "matmul:512,512,512" or "conv2d:56x56x64,64,3x3,pad=1". `architecture` is a Timeloop file or
    "gemmini", "gemmini16x16", "eyeriss-like", "simba-like", "tpu-like"; `objective` "energy",
    "delay" or "edp". `out` gets the mappings as Timeloop files; `workers` and `pool` are as in `tune`.
    """
    text = os.fspath(subject)
    if text.endswith(".onnx"):
        arguments = ["map", text]
    elif text.endswith((".yaml", ".yml")):
        arguments = ["map", "--problem", text]
    else:
        arguments = ["map", "--op", text]
    arguments += program.options(arch=architecture, objective=objective, evaluations=evaluations,
                                 time=time, mapper=mapper, seed=seed, db=db, resume=resume,
                                 constraints=list(constraints), evaluator=evaluator, jobs=jobs,
                                 dim=dims, out=out, workers=_worker_commands(workers, pool))
    result = program.run(arguments, verbose=verbose)
    layers = result.get("layers")
    if layers is None:
        layers = [{"problem": result["problem"], "value": result["value"],
                   "mapping": result["mapping"], "model": result["model"]}]
    return MapResult(objective=objective, architecture=result["architecture"],
                     mapper=result["mapper"], end=result["end"],
                     evaluations=result["evaluations"], seconds=result["seconds"], layers=layers,
                     totals=result.get("totals", {}),
                     improvements=result.get("improvements", []))


@dataclass(frozen=True)
class SearchResult:
    """The best of a search; `trials` reads all of them from its database."""

    database: str
    scenario: str
    objective: str
    end: str
    best_params: Optional[dict]
    best_value: Optional[float]

    @property
    def trials(self) -> list:
        database = Database(self.database)
        runs = [run["run"] for run in database.run_records()
                if run["kind"] == "search" and run["name"] == self.scenario]
        return database.trial_records(runs[-1])


def search(scenario: Path, *, trials: Optional[int] = None, time: Union[float, str, None] = None,
           optimizer: Optional[str] = None, seed: Optional[int] = None, jobs: Optional[int] = None,
           db: Optional[Path] = None, resume: bool = False, command: Optional[str] = None,
           repeat_best: Optional[int] = None, sandbox: bool = False,
           workers: Sequence[str] = (), pool: Any = None,
           callbacks: Iterable[Callable[[dict], None]] = (), verbose: bool = False) -> SearchResult:
    """Searches a scenario file with the evaluator that it names: a command, a process or a recorded
    space (docs/scenarios.md). For a Python function there is `Study`, which takes such files as
    well.

    The arguments are the options of `bayloom search`; `callbacks` and `pool` as in `tune`. Needs no database
    of its own choosing: without `db` it is NAME.db.
    """
    name = _core.Scenario.load(os.fspath(scenario)).name
    database = os.fspath(db) if db is not None else (name.replace("/", "-") or "search") + ".db"
    arguments = ["search", os.fspath(scenario),
                 *program.options(trials=trials, time=time, optimizer=optimizer, seed=seed,
                                  jobs=jobs, db=database, resume=resume, command=command,
                                  repeat_best=repeat_best, sandbox=sandbox,
                                  workers=_worker_commands(workers, pool))]
    new_trials = _NewTrials(database, callbacks)
    result = program.run(arguments, verbose=verbose, poll=new_trials)
    best = result.get("best") or {}
    return SearchResult(database=database, scenario=result["scenario"],
                        objective=result["objective"], end=result["end"],
                        best_params=best.get("configuration"), best_value=best.get("value"))



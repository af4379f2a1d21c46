# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Bayloom tunes programs by measuring them.

    >>> import bayloom
    >>> study = bayloom.Study({"tile": [8, 16, 32, 64], "unroll": bayloom.Integer(1, 8)},
    ...                       constraints=["tile % unroll == 0"], seed=1)
    >>> study.optimize(lambda trial: (trial["tile"] - 32) ** 2 + trial["unroll"], n_trials=16)
    >>> study.best_params
    {'tile': 32, 'unroll': 1}

`Study` searches a space of parameters, `tune_kernel` does so for users of Kernel Tuner and
`bayloom.optuna.BayloomSampler` within Optuna; `tune`, `compile`, `load`, `Session` and `Decoder`
are for neural networks, `map` for accelerators, `search` for scenario files, `open` for databases.
"""

from ._core import InputError, MachineError, __version__, optimizers
from .commands import compile, map, search, tune
from .compiled import CompiledNetwork, Session, load
from .database import Database, open
from .decoder import Decoder
from .kernel import run_kernel, store_results, tune_kernel
from .moe import moe_table
from .parameters import (Categorical, Factorization, Integer, Ordinal, Parameter, Permutation,
                         Real)
from .program import CommandFailed, NoCompiler, Stopped
from .study import Exhausted, FinishedTrial, Infeasible, Study, Trial

# Not what Python has under the same name: compile, map, open.
__all__ = [
    "Categorical", "CommandFailed", "CompiledNetwork", "Database", "Decoder",
    "Exhausted", "Factorization",
    "FinishedTrial", "Infeasible", "InputError", "Integer", "MachineError", "NoCompiler", "Ordinal",
    "Parameter", "Permutation", "Real", "Session", "Stopped", "Study", "Trial", "load", "moe_table", "optimizers", "search",
    "run_kernel", "store_results", "tune", "tune_kernel",
]

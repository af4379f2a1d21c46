#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Checks that the package bayloom of this environment works: studies, the program, its command."""

import shutil
import subprocess
import sys
import sysconfig

import bayloom

study = bayloom.Study({"tile": [8, 16, 32], "unroll": bayloom.Integer(1, 8)}, seed=1)
study.optimize(lambda trial: abs(trial["tile"] - 16) + trial["unroll"], n_trials=24)
assert study.best_params == {"tile": 16, "unroll": 1}, study.best_params
mapped = bayloom.map("matmul:64,64,64", "gemmini", evaluations=100, seed=1)
assert mapped.value > 0
try:
    tuned = bayloom.tune(op="matmul:64,64,64", trials=4, threads=1, seed=1)
    assert tuned.trials == 4
    compiler = "with the compiler"
except bayloom.NoCompiler:
    compiler = "without the compiler"
command = shutil.which("bayloom", path=sysconfig.get_path("scripts"))
assert command, "the package installs no command"
version = subprocess.run([command, "--version"], check=True, text=True, capture_output=True).stdout
print(f"{version.strip()}, {compiler}, works in Python {sys.version.split()[0]}")

# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""What other programs read of a search: each format is read back by who owns it."""

import json
import math

import pytest

import bayloom


@pytest.fixture
def searched(bayloom_program):
    """A database with a search of all kinds of parameters, and its trials."""
    study = bayloom.Study(
        {"rate": bayloom.Real(0, 1), "tile": [8, 16, 32], "unroll": bayloom.Integer(1, 8),
         "layout": bayloom.Categorical(["rows", "columns"]), "order": bayloom.Permutation(3)},
        name="blur", objective="milliseconds", storage="blur.db", seed=1)

    def evaluate(trial):
        if trial["unroll"] > 6:
            raise bayloom.Infeasible("no registers left")
        return trial["rate"] + trial["tile"] / trial["unroll"]

    study.optimize(evaluate, n_trials=24)
    return bayloom.open("blur.db")


def test_optuna_reads_the_journal(searched):
    optuna = pytest.importorskip("optuna")
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    searched.export("journal.log", "optuna")
    study = optuna.load_study(study_name="blur",
                              storage=JournalStorage(JournalFileBackend("journal.log")))
    ours = searched.trial_records()
    assert len(study.trials) == len(ours) == 24
    assert study.direction == optuna.study.StudyDirection.MINIMIZE
    for trial, known in zip(study.trials, ours):
        expected = {name: str(value) if isinstance(value, list) else value
                    for name, value in known["params"].items()}
        assert trial.params == expected
        assert trial.datetime_complete >= trial.datetime_start
        if known["reason"]:
            assert trial.state == optuna.trial.TrialState.FAIL
            assert "no registers left" in trial.user_attrs["reason"]
        else:
            assert trial.state == optuna.trial.TrialState.COMPLETE
            assert trial.value == known["value"]
    assert study.best_value == min(t["value"] for t in ours if not t["reason"])
    # Optuna goes on with it: the space is the same.
    study.optimize(lambda trial: trial.suggest_float("rate", 0, 1) + trial.suggest_int(
        "unroll", 1, 8), n_trials=2)
    assert len(study.trials) == 26


def test_a_report_of_google_benchmark(searched):
    searched.export("report.json", "google-benchmark")
    with open("report.json") as file:
        report = json.load(file)
    works = [trial for trial in searched.trial_records() if not trial["reason"]]
    assert [each["real_time"] for each in report["benchmarks"]] == [t["value"] for t in works]
    # What the tools of Google Benchmark ask of each.
    for each in report["benchmarks"]:
        assert each["run_type"] == "iteration" and each["time_unit"] == "ms"
        assert each["name"].startswith("blur/rate:")
        assert math.isfinite(each["cpu_time"])
    assert len({each["name"] for each in report["benchmarks"]}) == len(works)
    assert report["context"]["date"]


def test_a_recorded_space_and_all_records(searched):
    searched.export("t4.json", "t4")
    with open("t4.json") as file:
        assert len(json.load(file)["results"]) == 24
    searched.export("all.jsonl")
    with open("all.jsonl") as file:
        assert sum(json.loads(line)["type"] == "search_trial" for line in file) == 24


def test_what_cannot_be_exported(bayloom_program):
    study = bayloom.Study({"x": [1, 2, 3]}, name="power", objective="watts", storage="power.db")
    study.optimize(lambda trial: trial["x"], n_trials=2)
    database = bayloom.open("power.db")
    with pytest.raises(bayloom.InputError, match="'watts'"):
        database.export("report.json", "google-benchmark")
    with pytest.raises(bayloom.InputError, match="format"):
        database.export("x", "stone-tablets")
    with pytest.raises(bayloom.InputError):
        database.export("x.csv", "csv", run=77)


def test_kernel_tuner_goes_on_with_the_cache(searched):
    """It reads the file, simulates a search on it, and finds what was found."""
    kernel_tuner = pytest.importorskip("kernel_tuner")
    searched.export("cache.json", "kernel-tuner-cache")
    results, env = kernel_tuner.tune_cache(
        "cache.json", objective="milliseconds", objective_higher_is_better=False, quiet=True)
    works = [trial for trial in searched.trial_records() if not trial["reason"]]
    assert sorted(each["milliseconds"] for each in results) == sorted(t["value"] for t in works)
    best = env["best_config"]
    assert best["milliseconds"] == min(trial["value"] for trial in works)
    assert best["milliseconds"] == best["rate"] + best["tile"] / best["unroll"]


def test_a_cache_of_kernel_tuner_is_searched(bayloom_program):
    study = bayloom.Study({"tile": [8, 16, 32], "unroll": bayloom.Integer(1, 8)}, name="blur",
                          objective="GFLOP/s", direction="maximize", storage="blur.db", seed=1)
    study.optimize(lambda trial: trial["tile"] % 24 + trial["unroll"], n_trials=24)
    bayloom.open("blur.db").export("cache.json", "kernel-tuner-cache")
    again = bayloom.search("cache.json", seed=2, db="again.db")
    assert len(again.trials) == 24
    assert again.best_value == study.best_value == 24
    assert again.best_params == study.best_params


def test_the_schema_of_the_cache(searched):
    searched.export("cache.json", "kernel-tuner-cache")
    with open("cache.json") as file:
        cache = json.load(file)
    names = cache["tune_params_keys"]
    assert names == ["rate", "tile", "unroll", "layout", "order"] == list(cache["tune_params"])
    assert len(cache["cache"]) == 24
    for key, entry in cache["cache"].items():
        assert key == ",".join(str(entry[name]) for name in names)
        assert all(entry[name] in cache["tune_params"][name] for name in names)
        assert ("__error__" in entry) == isinstance(entry["milliseconds"], str)

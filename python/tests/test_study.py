# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Studies: what is asked, told, kept, and how they end."""

import gc
import itertools
import math
import os
import signal
import subprocess
import sys
import threading
import time
import weakref

import pytest

import bayloom

SPACE = {"tile": [4, 8, 16, 32, 64], "unroll": bayloom.Integer(1, 8), "pad": [True, False]}
CONSTRAINTS = ["tile % unroll == 0", lambda tile, pad: pad or tile > 4]
ALLOWED = {(tile, unroll, pad)
           for tile, unroll, pad in itertools.product(SPACE["tile"], range(1, 9), SPACE["pad"])
           if tile % unroll == 0 and (pad or tile > 4)}


def valley(trial):
    return (math.log2(trial["tile"]) - 4) ** 2 + (trial["unroll"] - 4) ** 2 + 0.5 * trial["pad"]


def key(trial):
    params = getattr(trial, "params", trial)
    return params["tile"], params["unroll"], params["pad"]


@pytest.mark.parametrize("optimizer", bayloom.optimizers())
def test_tries_what_is_allowed_and_nothing_twice(optimizer):
    study = bayloom.Study(SPACE, constraints=CONSTRAINTS, optimizer=optimizer, seed=1)
    assert study.count_feasible() == len(ALLOWED)
    study.optimize(valley)  # until nothing is left
    tried = [key(trial) for trial in study.trials]
    assert len(set(tried)) == len(tried)
    assert set(tried) == ALLOWED
    assert study.best_params == {"tile": 16, "unroll": 4, "pad": False}
    assert study.best_value == 0


def test_finds_the_optimum_of_a_large_space():
    space = {f"x{i}": bayloom.Real(-2, 2) for i in range(3)}
    study = bayloom.Study(space, seed=2)
    study.optimize(lambda t: sum((t[name] - 0.5) ** 2 for name in t), n_trials=40)
    assert study.best_value < 0.02


def test_maximizes():
    study = bayloom.Study(SPACE, direction="maximize", seed=1)
    study.optimize(lambda trial: -valley(trial), n_trials=30)
    assert study.direction == "maximize" and study.directions == ["maximize"]
    assert study.best_value == max(trial.value for trial in study.trials)


def test_the_same_seed_gives_the_same_choices():
    def choices(seed):
        study = bayloom.Study(SPACE, seed=seed)
        study.optimize(valley, n_trials=20)
        return [key(trial) for trial in study.trials]
    assert choices(5) == choices(5)
    assert choices(5) != choices(6)


@pytest.mark.parametrize("optimizer", bayloom.optimizers())
def test_chooses_as_the_program_does(optimizer, bayloom_program):
    with open("same.yaml", "w") as file:
        file.write("""
            name: same
            parameters:
              tile: {type: ordinal, values: [4, 8, 16, 32, 64], scale: log}
              unroll: {type: integer, range: [1, 8]}
            constraints: [tile % unroll == 0]
            evaluator: {shell: "echo $(( ({tile} - 16) * ({tile} - 16) + {unroll} ))"}
        """)
    theirs = bayloom.search("same.yaml", trials=15, seed=7, optimizer=optimizer)
    study = bayloom.Study("same.yaml", seed=7, optimizer=optimizer)
    study.optimize(lambda t: (t["tile"] - 16) ** 2 + t["unroll"], n_trials=15)
    assert [t.params for t in study.trials] == [t["params"] for t in theirs.trials]
    assert study.best_value == theirs.best_value and study.best_params == theirs.best_params


def test_failures_are_kept_with_their_reasons():
    def objective(trial):
        if trial["unroll"] == 1:
            raise RuntimeError("does not\ncompile")
        if trial["unroll"] == 2:
            raise bayloom.Infeasible("too large", verdict="memory")
        if trial["unroll"] == 3:
            return float("nan")
        if trial["unroll"] == 4:
            return None
        return {"value": 1.0, "energy": 2.5, "note": "no number"}

    study = bayloom.Study({"unroll": bayloom.Integer(1, 5)}, storage="failures.db")
    study.optimize(objective)
    by_unroll = {trial.params["unroll"]: trial for trial in study.trials}
    assert by_unroll[1].verdict == "crash" and by_unroll[1].value is None
    assert by_unroll[1].reason.startswith("RuntimeError: does not")
    assert "\n" not in by_unroll[1].reason
    assert (by_unroll[2].verdict, by_unroll[2].reason) == ("memory", "too large")
    assert by_unroll[3].verdict == by_unroll[4].verdict == "invalid-answer"
    assert by_unroll[5].ok and by_unroll[5].values == {"energy": 2.5}
    again = bayloom.Study({"unroll": bayloom.Integer(1, 5)}, storage="failures.db", resume=True)
    assert again.trials == study.trials


def test_says_if_nothing_works():
    study = bayloom.Study(SPACE)
    with pytest.warns(UserWarning, match="none of 2 trials has a value.*KeyError: 'nothing'"):
        study.optimize(lambda trial: trial["nothing"], n_trials=2)
    with pytest.raises(ValueError, match="no trial has a value"):
        study.best_value


def test_avoids_what_fails():
    """Half of the space fails; what is learnt from that shows in the second half of the trials."""
    def objective(trial):
        if trial["x"] > 0.5:
            raise ValueError("hidden")
        return (trial["x"] - 0.4) ** 2 + trial["y"]

    study = bayloom.Study({"x": bayloom.Real(0, 1), "y": bayloom.Real(0, 1)}, seed=1)
    study.optimize(objective, n_trials=60)
    assert sum(not trial.ok for trial in study.trials[30:]) < 10


def test_ask_and_tell():
    study = bayloom.Study(SPACE, constraints=CONSTRAINTS, seed=1)
    first, second = study.ask(2)
    assert key(first) in ALLOWED and key(first) != key(second)
    assert (first.number, second.number) == (0, 1)
    assert dict(**first) == first.params
    assert study.tell(second, 2.0).number == 0
    assert study.tell(first, infeasible="no").verdict == "invalid-answer"
    with pytest.raises(bayloom.InputError, match="told before"):
        study.tell(first, 1.0)
    other = next(c for c in sorted(ALLOWED) if c not in (key(first), key(second)))
    study.tell(dict(zip(("tile", "unroll", "pad"), other)), 1.5)  # never asked for
    assert study.best_value == 1.5
    with pytest.raises(bayloom.InputError, match="constraints do not allow"):
        study.tell({"tile": 4, "unroll": 3, "pad": True}, 1.0)
    with pytest.raises(bayloom.InputError, match="tile"):
        study.tell({"tile": 5, "unroll": 1, "pad": True}, 1.0)
    assert study.is_allowed({"tile": 8, "unroll": 2, "pad": False})
    assert not study.is_allowed({"tile": 4, "unroll": 2, "pad": False})


def test_ask_says_that_nothing_is_left():
    study = bayloom.Study({"x": [1, 2]})
    assert len(study.ask(5)) == 2
    with pytest.raises(bayloom.Exhausted, match="every configuration has been tried"):
        study.ask()


def test_wrong_spaces_are_refused():
    with pytest.raises(bayloom.InputError, match="column 7"):
        bayloom.Study({"a": [1, 2]}, constraints=["a % (2"])
    with pytest.raises(bayloom.InputError, match="is no parameter"):
        bayloom.Study({"a": [1, 2]}, constraints=[lambda b, c: b < c])
    with pytest.raises(bayloom.InputError, match="bayesian"):
        bayloom.Study({"a": [1, 2]}, optimizer="bayesien")
    with pytest.raises(bayloom.InputError, match="parameter 'a'"):
        bayloom.Study({"a": "text"})
    with pytest.raises(bayloom.InputError, match="read alike"):
        bayloom.Study({"a": ["1", 1]})
    with pytest.raises(bayloom.InputError, match="resume needs storage"):
        bayloom.Study({"a": [1, 2]}, resume=True)
    with pytest.raises(ZeroDivisionError):
        bayloom.Study({"a": [1, 2]}, constraints=[lambda a: a / 0 > 1])


def test_constraints_on_a_dict():
    limit = 100
    study = bayloom.Study({"a": [1, 10, 100], "b": [1, 10, 100], "c": ["x", "y"]},
                          constraints=[lambda p: p["a"] * p["b"] <= limit,
                                       lambda p: all(p[n] != 1 for n in ("a", "b"))])
    # The second reads names that its code has in a tuple only.
    assert study.count_feasible() == 2  # 10 and 10, twice


def test_resumes_where_it_ended():
    study = bayloom.Study(SPACE, constraints=CONSTRAINTS, storage="a.db", name="a", seed=1)
    study.optimize(valley, n_trials=8)
    resumed = bayloom.Study(SPACE, constraints=CONSTRAINTS, storage="a.db", name="a", seed=1,
                            resume=True)
    assert resumed.trials == study.trials
    resumed.optimize(valley)
    tried = [key(trial) for trial in resumed.trials]
    assert len(tried) == len(ALLOWED) and set(tried) == ALLOWED


def test_interrupted_trials_are_tried_first():
    study = bayloom.Study(SPACE, seed=1)
    seen = []

    def objective(trial):
        seen.append(key(trial))
        if len(seen) == 4:
            raise KeyboardInterrupt
        return valley(trial)

    with pytest.raises(KeyboardInterrupt):
        study.optimize(objective, n_trials=10)
    assert len(study.trials) == 3
    study.optimize(objective, n_trials=5)
    assert seen[4] == seen[3] and len(study.trials) == 8


def test_ctrl_c_keeps_all_trials_that_ended():
    script = """
import time, bayloom
study = bayloom.Study({"x": bayloom.Integer(1, 1000)}, storage="c.db", name="c", seed=1)
def objective(trial):
    print(trial["x"], flush=True)
    time.sleep(0.05)
    return trial["x"]
study.optimize(objective)
"""
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    begun = [int(process.stdout.readline()) for _ in range(5)]
    os.kill(process.pid, signal.SIGINT)
    begun += [int(line) for line in process.communicate()[0].split()]
    assert process.returncode not in (0, None)
    study = bayloom.Study({"x": bayloom.Integer(1, 1000)}, storage="c.db", name="c", resume=True)
    kept = [trial.params["x"] for trial in study.trials]
    assert kept in (begun[:-1], begun) and len(kept) >= 4
    study.optimize(lambda trial: trial["x"], n_trials=5)
    tried = [trial.params["x"] for trial in study.trials]
    assert len(set(tried)) == len(tried) == len(kept) + 5


def test_evaluates_in_threads():
    running, most = set(), []
    lock = threading.Lock()

    def objective(trial):
        with lock:
            running.add(trial.number)
            most.append(len(running))
        time.sleep(0.02)
        with lock:
            running.remove(trial.number)
        return valley(trial)

    study = bayloom.Study(SPACE, seed=1)
    study.optimize(objective, n_trials=24, n_jobs=4)
    assert len({key(trial) for trial in study.trials}) == 24
    assert 1 < max(most) <= 4


def test_callbacks_can_stop_it():
    study = bayloom.Study(SPACE, seed=1)
    seen = []

    def callback(which, trial):
        assert which is study
        seen.append(trial)
        if len(seen) == 3:
            study.stop()

    study.optimize(valley, callbacks=[callback])
    assert seen == study.trials and len(seen) == 3
    begun = time.monotonic()
    study.optimize(lambda trial: time.sleep(0.05) or valley(trial), timeout=0.1)
    assert time.monotonic() - begun < 5 and len(study.trials) < 20


def test_releases_the_interpreter():
    study = bayloom.Study({f"x{i}": bayloom.Real(0, 1) for i in range(6)}, seed=1)
    for trial in study.ask(150):
        study.tell(trial, sum(trial.values()))
    ticks, done = [], threading.Event()

    def tick():
        while not done.wait(0.001):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.monotonic()
    study.ask(20)
    end = time.monotonic()
    done.set()
    thread.join()
    between = sum(begin < t < end for t in ticks)
    assert between >= min(5, (end - begin) * 50)


def test_studies_are_freed_with_the_functions_that_hold_them():
    class Held:
        pass

    held = Held()
    gone = weakref.ref(held)

    def allowed(x):
        return x > 0 and holder["held"] is not None

    holder = {"held": held}
    holder["study"] = bayloom.Study({"x": [1, 2, 3]}, constraints=[allowed])
    holder["study"].ask()
    del held, holder, allowed
    gc.collect()
    assert gone() is None


def test_frames():
    pandas = pytest.importorskip("pandas")
    study = bayloom.Study(SPACE, storage="f.db", name="f", seed=1)
    study.optimize(valley, n_trials=6)
    frame = study.trials_dataframe()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame["value"]) == [trial.value for trial in study.trials]
    assert list(frame["params_tile"]) == [trial.params["tile"] for trial in study.trials]
    kept = bayloom.open("f.db").trials
    assert list(kept["value"]) == list(frame["value"])
    assert list(kept["params_unroll"]) == list(frame["params_unroll"])


def test_databases_are_read_as_they_are():
    study = bayloom.Study(SPACE, storage="d.db", name="d", seed=3)
    study.optimize(valley, n_trials=4)
    database = bayloom.open("d.db")
    run, = database.run_records()
    assert (run["kind"], run["name"], run["seed"], run["finished"]) == ("search", "d", 3, False)
    trials = database.trial_records()
    assert [t["value"] for t in trials] == [t.value for t in study.trials]
    assert [t["params"]["tile"] for t in trials] == [t.params["tile"] for t in study.trials]
    with open("no.db", "w") as file:
        file.write("no database, but long enough to look like a file with something in it" * 9)
    with pytest.raises((bayloom.InputError, bayloom.MachineError), match="no.db"):
        bayloom.open("no.db")
    with pytest.raises((bayloom.InputError, bayloom.MachineError), match="missing.db"):
        bayloom.open("missing.db")
    assert not os.path.exists("missing.db")


def cheap_and_good(trial):
    """Cost and quality; the second is no better than the cost allows."""
    return trial["tile"] * trial["unroll"], trial["tile"] - 4 * trial["pad"]


def test_several_directions_give_a_pareto_set(tmp_path):
    database = tmp_path / "several.db"
    made = dict(constraints=CONSTRAINTS, directions=["minimize", "maximize"],
                objectives=["cost", "quality"], seed=2, storage=database)
    study = bayloom.Study(SPACE, **made)
    study.optimize(cheap_and_good, n_trials=10)
    study = bayloom.Study(SPACE, **made, resume=True)
    assert len(study.trials) == 10
    assert study.directions == ["minimize", "maximize"]
    assert study.objectives == ["cost", "quality"]
    study.optimize(cheap_and_good)
    assert len(study.trials) == len(ALLOWED)
    front = {trial.objective_values for trial in study.best_trials}
    # Of each tile size the cheapest, without padding where that is allowed.
    assert front == {(4, 0), (8, 8), (16, 16), (32, 32), (64, 64)}
    for trial in study.trials:
        assert trial.objective_values == cheap_and_good(trial.params)
    with pytest.raises(ValueError, match="best_trials"):
        _ = study.best_value


def test_the_order_of_directions_is_the_users():
    study = bayloom.Study({"x": bayloom.Integer(0, 20)}, directions=["maximize", "minimize"], seed=1)
    study.optimize(lambda trial: (-trial["x"], abs(trial["x"] - 10)), n_trials=21)
    assert study.objectives == ["value_0", "value_1"]
    assert {t.params["x"] for t in study.best_trials} == set(range(11))
    assert study.trials[0].objective_values[0] == -study.trials[0].params["x"]


@pytest.mark.parametrize("answer", [1.0, (1.0,), (1.0, math.nan), {"cost": 1.0}, None])
def test_an_answer_without_all_objectives_is_infeasible(answer):
    study = bayloom.Study({"x": [1, 2]}, objectives=["cost", "size"], seed=1)
    trial = study.tell(study.ask(), answer)
    assert not trial.ok and "the objective returned" in trial.reason
    assert study.tell(study.ask(), {"cost": 1, "size": 2, "note": 3}).values["note"] == 3
    assert study.best_trials[0].objective_values == (1, 2)


def test_thresholds_say_what_is_of_no_interest():
    def share_of_interest(thresholds):
        study = bayloom.Study({"x": bayloom.Real(0, 1), "y": bayloom.Real(0, 1)}, seed=1,
                              directions=["minimize", "maximize"], objectives=["cost", "quality"],
                              thresholds=thresholds)
        study.optimize(lambda trial: (trial["x"], trial["x"] ** 0.5 - abs(trial["y"] - 0.5)),
                       n_trials=30)
        return sum(trial.params["x"] >= 0.45 for trial in study.trials[10:]) / 20

    assert share_of_interest({"quality": 0.7}) > share_of_interest(None)


def test_directions_are_checked():
    for wrong in [dict(directions=["up"]), dict(directions=["minimize"], objectives=["a", "b"]),
                  dict(directions=["minimize"] * 2, direction="maximize"),
                  dict(thresholds={"value": 1}),
                  dict(directions=["minimize"] * 2, thresholds={"cost": 1})]:
        with pytest.raises(bayloom.InputError):
            bayloom.Study({"x": [1, 2]}, **wrong)


def test_learns_from_earlier_studies(tmp_path):
    database = tmp_path / "other_device.db"
    earlier = bayloom.Study(SPACE, constraints=["tile % unroll == 0"], storage=database, seed=1)
    earlier.optimize(valley, n_trials=25)
    study = bayloom.Study(SPACE, constraints=["tile % unroll == 0"], learn_from=[database], seed=2)
    assert dict(study.ask()) == earlier.best_params
    assert "values" in study.learned_from[0] and earlier.learned_from == []
    # A parameter that the earlier search had not is told of.
    wider = bayloom.Study({**SPACE, "vectors": [1, 2]}, constraints=["tile % unroll == 0"],
                          learn_from=[database], seed=2)
    assert any("vectors" in note for note in wider.learned_from)
    with pytest.raises(bayloom.InputError, match="no earlier search"):
        bayloom.Study({"other": [1, 2, 3]}, learn_from=[database])


def test_arguments_that_cannot_be_are_refused():
    study = bayloom.Study({"x": [1, 2]})
    assert study.ask(0) == []
    for n in (-1, 1.5):
        with pytest.raises(bayloom.InputError, match="n is a whole number from 0"):
            study.ask(n)
    for n_jobs in (0, 2.5):
        with pytest.raises(bayloom.InputError, match="n_jobs is a whole number from 1"):
            study.optimize(lambda trial: 1, n_jobs=n_jobs)
    with pytest.raises(bayloom.InputError, match="NUL"):
        bayloom.Study({"x": [1, 2]}, storage="a\0b.db")


def test_reasons_may_be_no_unicode():
    def objective(trial):
        raise ValueError("cannot read caf\udce9")

    study = bayloom.Study({"x": bayloom.Integer(0, 9)}, storage="names.db")
    with pytest.warns(UserWarning, match="none of 3 trials"):
        study.optimize(objective, n_trials=3)
    assert [trial.reason for trial in study.trials] == ["ValueError: cannot read caf\\udce9"] * 3


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_choices_are_finite(value):
    for choices in ([1.5, value], [value, "a"], bayloom.Categorical):
        with pytest.raises(bayloom.InputError, match="is no value to choose"):
            bayloom.Study({"x": choices([1, value]) if callable(choices) else choices})
    with pytest.raises(bayloom.InputError, match="is no value to choose"):
        bayloom.Ordinal([1, value])


def test_ordinal_numbers_are_in_order():
    with pytest.raises(bayloom.InputError, match="are in no order"):
        bayloom.Ordinal([8, 2, 4])
    assert bayloom.Study({"x": bayloom.Ordinal([8, 4, 2])}).count_feasible() == 3
    assert "{c, a, b}" in bayloom.Study({"x": bayloom.Ordinal(["c", "a", "b"])}).space

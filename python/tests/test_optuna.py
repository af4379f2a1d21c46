# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""The engine inside Optuna."""

import json
import pathlib
import pickle
import sys
import warnings

import pytest

import bayloom

optuna = pytest.importorskip("optuna")
optuna.logging.set_verbosity(optuna.logging.WARNING)

from bayloom.optuna import BayloomSampler  # noqa: E402


def objective(trial):
    tile = trial.suggest_categorical("tile", [4, 8, 16, 32])
    unroll = trial.suggest_int("unroll", 1, 8)
    x = trial.suggest_float("x", -1, 1)
    return abs(tile - 16) + abs(unroll - 3) + x * x


def test_finds_the_optimum():
    study = optuna.create_study(sampler=BayloomSampler(seed=1))
    study.optimize(objective, n_trials=40)
    assert study.best_params["tile"] == 16 and study.best_value < 1.1


def test_constraints_hold_and_nothing_is_suggested_twice():
    space = {"tile": optuna.distributions.CategoricalDistribution([4, 8, 16, 32]),
             "unroll": optuna.distributions.IntDistribution(1, 8)}
    sampler = BayloomSampler(search_space=space, seed=2,
                             constraints=["tile % unroll == 0", lambda unroll: unroll != 8])
    study = optuna.create_study(sampler=sampler, direction="maximize")

    def only(trial):
        tile = trial.suggest_categorical("tile", [4, 8, 16, 32])
        return tile - trial.suggest_int("unroll", 1, 8)

    study.optimize(only, n_trials=12)
    tried = [(t.params["tile"], t.params["unroll"]) for t in study.trials]
    assert len(set(tried)) == len(tried) == 12  # of 4 tiles with 1, 2 and 4: all
    assert all(tile % unroll == 0 and unroll != 8 for tile, unroll in tried)
    with pytest.warns(UserWarning, match="every configuration has been tried"):
        study.optimize(only, n_trials=1)


def test_the_same_seed_gives_the_same_study():
    def tried(seed):
        study = optuna.create_study(sampler=BayloomSampler(seed=seed))
        study.optimize(objective, n_trials=15)
        return [t.params for t in study.trials]
    assert tried(1) == tried(1)


def test_learns_of_failures_and_prunings():
    def failing(trial):
        x = trial.suggest_float("x", 0, 1)
        if x > 0.5:
            raise ValueError("hidden")
        trial.report(x, 0)
        if x < 0.1:
            raise optuna.TrialPruned
        return x

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study = optuna.create_study(sampler=BayloomSampler(seed=1))
        optuna.logging.disable_default_handler()
        study.optimize(failing, n_trials=40, catch=(ValueError,))
        optuna.logging.enable_default_handler()
    states = [t.state for t in study.trials[20:]]
    assert states.count(optuna.trial.TrialState.FAIL) < 8


def test_goes_on_with_earlier_trials_and_in_threads():
    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
    study.optimize(objective, n_trials=10)
    study.sampler = pickle.loads(pickle.dumps(BayloomSampler(seed=3)))
    study.optimize(objective, n_trials=20, n_jobs=2)
    assert len(study.trials) == 30
    assert min(t.value for t in study.trials[10:]) <= min(t.value for t in study.trials[:10])


def test_changing_spaces():
    def branching(trial):
        if trial.suggest_categorical("kind", ["a", "b"]) == "a":
            return trial.suggest_float("a", 0, 1)
        return trial.suggest_float("b", 1, 2)

    study = optuna.create_study(sampler=BayloomSampler(seed=1))
    study.optimize(branching, n_trials=15)
    assert len(study.trials) == 15


def test_conditional_parameters_of_a_define_by_run_objective():
    distributions = optuna.distributions
    space = {"method": distributions.CategoricalDistribution(["plain", "tiled"]),
             "tile": distributions.IntDistribution(1, 6),
             "speed": distributions.FloatDistribution(0, 1)}

    def objective(trial):
        if trial.suggest_categorical("method", ["plain", "tiled"]) == "plain":
            return 3 + trial.suggest_float("speed", 0, 1)
        return abs(trial.suggest_int("tile", 1, 6) - 4)

    study = optuna.create_study(sampler=BayloomSampler(
        search_space=space, seed=3,
        active_if={"tile": "method == 'tiled'", "speed": "method == 'plain'"}))
    study.optimize(objective, n_trials=20)
    assert study.best_value == 0
    tiles = [t.params["tile"] for t in study.trials if "tile" in t.params]
    assert len(tiles) == len(set(tiles))  # nothing is tried again because of what is inactive


@pytest.mark.parametrize("seed", [1, 2])
def test_chooses_what_the_program_chooses(seed, bayloom_program):
    """On a recorded space, and so it needs as many evaluations as a search from the command line."""
    import recorded_convolution
    from bayloom.space import make_space

    values, constraints = recorded_convolution.space()
    recorded = recorded_convolution.Recorded()
    space = {name: optuna.distributions.CategoricalDistribution(choices)
             for name, choices in values.items()}
    study = optuna.create_study(
        sampler=BayloomSampler(search_space=space, constraints=constraints, seed=seed))
    study.optimize(lambda trial: recorded({name: trial.suggest_categorical(name, choices)
                                           for name, choices in values.items()}),
                   n_trials=30, catch=(KeyError,))

    # The engine has categories as texts, which the process makes numbers again.
    with open("evaluate.py", "w") as file:
        file.write(f"""
import json, sys
sys.path.insert(0, {str(pathlib.Path(__file__).parent)!r})
import recorded_convolution
recorded = recorded_convolution.Recorded()
for line in sys.stdin:
    params = {{name: int(value) for name, value in json.loads(line).items()}}
    try:
        print(json.dumps({{"time": recorded(params)}}), flush=True)
    except KeyError:
        print(json.dumps({{"feasible": False}}), flush=True)
""")
    scenario = json.loads(make_space(space, constraints, name="convolution", objective="time",
                                     seed=seed).scenario.text)
    scenario["evaluator"] = {"process": [sys.executable, "-u", "evaluate.py"]}
    with open("convolution.json", "w") as file:
        json.dump(scenario, file)
    found = bayloom.search("convolution.json", trials=30)
    tried = [{name: int(value) for name, value in trial["params"].items()}
             for trial in found.trials]
    assert tried == [trial.params for trial in study.trials]
    assert [trial["value"] for trial in found.trials] == [trial.value for trial in study.trials]


PLANE = {name: optuna.distributions.IntDistribution(0, 7) for name in ("x", "y")}


def plane(trial):
    return trial.suggest_int("x", 0, 7), trial.suggest_int("y", 0, 7)


def test_several_objectives():
    study = optuna.create_study(directions=["minimize", "maximize"],
                                sampler=BayloomSampler(search_space=PLANE, seed=1))
    study.optimize(plane, n_trials=40)
    assert [trial.values for trial in study.best_trials] == [[0, 7]]


def test_violated_constraints_are_avoided():
    study = optuna.create_study(sampler=BayloomSampler(
        search_space=PLANE, seed=1, constraints_func=lambda trial: [4 - trial.params["x"]]))
    study.optimize(lambda trial: sum(plane(trial)), n_trials=40)
    assert study.best_trial.params == {"x": 4, "y": 0}
    late = [trial.params["x"] for trial in study.trials[20:]]
    assert sum(x < 4 for x in late) < len(late) / 4


def test_unusable_constraints_are_refused_at_once():
    for wrong in ({"constraints": ["z > 1"]}, {"constraints": ["x >"]}, {"active_if": {"x": "q"}}):
        with pytest.raises(bayloom.InputError):
            BayloomSampler(search_space=PLANE, **wrong)

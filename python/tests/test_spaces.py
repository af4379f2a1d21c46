# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Spaces: every kind of parameter, and those of other libraries."""

import json
import math

import pytest

import bayloom
from bayloom.parameters import as_parameter


def some(space, n=20, **options):
    """Configurations that a random search tries."""
    return [trial.params for trial in bayloom.Study(space, optimizer="random", **options).ask(n)]


def test_every_kind_gives_values_of_its_domain():
    for params in some({
            "real": bayloom.Real(1e-5, 1e-1, log=True), "integer": bayloom.Integer(-3, 3),
            "ordinal": bayloom.Ordinal([0.5, 1.5, 8]), "text": bayloom.Ordinal(["low", "high"]),
            "choice": bayloom.Categorical(["a", True, 3, 2.5, None]),
            "order": bayloom.Permutation(3), "split": bayloom.Factorization(24, 3)}):
        assert 1e-5 <= params["real"] <= 1e-1 and isinstance(params["real"], float)
        assert params["integer"] in range(-3, 4) and isinstance(params["integer"], int)
        assert params["ordinal"] in (0.5, 1.5, 8)
        assert params["text"] in ("low", "high")
        assert any(params["choice"] is choice or (params["choice"] == choice
                                                  and type(params["choice"]) is type(choice))
                   for choice in ("a", True, 3, 2.5, None))
        assert sorted(params["order"]) == [0, 1, 2]
        assert math.prod(params["split"]) == 24


def test_values_come_back_as_they_were_given():
    space = {"flag": [True, False], "size": (1.0, 2.0, 4.0), "name": ["1", "x"]}
    seen = some(space, 12)
    assert {type(p["flag"]) for p in seen} == {bool}
    assert {type(p["size"]) for p in seen} == {float}
    assert {p["name"] for p in seen} == {"1", "x"}


def test_values_of_numpy():
    numpy = pytest.importorskip("numpy")
    for params in some({"tile": 2 ** numpy.arange(6), "x": numpy.linspace(0, 1, 5)}):
        assert type(params["tile"]) is int and type(params["x"]) is float


def test_defaults_are_tried_first():
    study = bayloom.Study({"a": bayloom.Integer(1, 9, default=4),
                           "b": bayloom.Categorical(["x", False], default=False)}, seed=1)
    assert study.ask().params == {"a": 4, "b": False}


def test_priors_say_where_to_begin():
    """A tenth of the values has nearly all of the weight."""
    def share(prior):
        space = {"a": bayloom.Ordinal(list(range(20)), prior=prior), "b": bayloom.Real(0, 1)}
        study = bayloom.Study(space, seed=1)
        study.optimize(lambda trial: 1 + trial["b"], n_trials=20)
        return sum(trial.params["a"] <= 1 for trial in study.trials) / 20

    assert share([1000] * 2 + [0.001] * 18) >= 0.3 > share(None)


def test_powers_are_on_a_logarithmic_scale():
    assert as_parameter("x", [1, 2, 4, 8]).log
    assert not as_parameter("x", [1, 2, 3, 4]).log
    assert not as_parameter("x", [0, 1, 2]).log


def test_scenario_files(tmp_path):
    (tmp_path / "s.json").write_text(json.dumps({
        "name": "s", "parameters": {"a": {"type": "integer", "range": [1, 4]}},
        "constraints": ["a != 3"], "maximize": "speed", "optimizer": "genetic"}))
    study = bayloom.Study(tmp_path / "s.json")
    study.optimize(lambda trial: {"speed": trial["a"]})
    assert (study.name, study.direction, study.objective) == ("s", "maximize", "speed")
    assert bayloom.Study(tmp_path / "s.json", name="other").name == "other"
    assert sorted(trial.value for trial in study.trials) == [1, 2, 4]
    assert "a != 3" in study.space
    with pytest.raises(bayloom.InputError, match="says its|say its"):
        bayloom.Study(tmp_path / "s.json", constraints=["a < 3"])


def test_distributions_of_optuna():
    distributions = pytest.importorskip("optuna").distributions
    space = {"lr": distributions.FloatDistribution(1e-4, 1e-1, log=True),
             "half": distributions.FloatDistribution(0, 2, step=0.5),
             "n": distributions.IntDistribution(1, 9, step=2),
             "k": distributions.IntDistribution(1, 64, log=True),
             "c": distributions.CategoricalDistribution(("a", None, 3))}
    for params in some(space):
        for name, distribution in space.items():
            assert distribution._contains(distribution.to_internal_repr(params[name]))


def test_spaces_of_configspace():
    cs = pytest.importorskip("ConfigSpace")
    space = cs.ConfigurationSpace(seed=1)
    a = cs.Integer("a", (1, 8))
    b = cs.Integer("b", (1, 8))
    c = cs.Categorical("c", ["x", "y"], default="y")
    space.add([a, b, c, cs.Float("d", (0.1, 10), log=True), cs.Constant("e", 3)])
    space.add(cs.ForbiddenLessThanRelation(a, b))
    space.add(cs.ForbiddenAndConjunction(cs.ForbiddenEqualsClause(a, 8),
                                         cs.ForbiddenInClause(c, ["x"])))
    for params in some(space, 60):
        assert not (params["a"] < params["b"]) and not (params["a"] == 8 and params["c"] == "x")
        cs.Configuration(space, values=params)  # refuses what is not in the space
    assert bayloom.Study(space).ask().params == dict(space.get_default_configuration())


def test_conditions_of_configspace():
    cs = pytest.importorskip("ConfigSpace")
    space = cs.ConfigurationSpace(seed=1)
    a = cs.Integer("a", (1, 4))
    b = cs.Categorical("b", ["x", "y", "z"])
    c = cs.Categorical("c", ["on", "off"])
    d = cs.Float("d", (0, 1))
    e = cs.Integer("e", (0, 9))
    space.add([a, b, c, d, e])
    space.add(cs.EqualsCondition(c, b, "x"))
    space.add(cs.AndConjunction(cs.InCondition(d, b, ["x", "y"]), cs.GreaterThanCondition(d, a, 1)))
    space.add(cs.OrConjunction(cs.EqualsCondition(e, c, "on"), cs.NotEqualsCondition(e, b, "x"),
                               cs.LessThanCondition(e, a, 2)))
    space.add(cs.ForbiddenEqualsClause(e, 5))
    seen = set()
    for params in some(space, 300):
        cs.Configuration(space, values=params)  # refuses what is inactive, and what is missing
        seen.add(frozenset(params))
    assert len(seen) >= 5


def test_conditional_parameters():
    space = {"kind": ["a", "b"], "count": bayloom.Integer(1, 3, active_if="kind == 'a'"),
             "share": bayloom.Real(0, 1)}
    study = bayloom.Study(space, active_if={"share": "count >= 2"}, seed=2)
    study.optimize(lambda trial: trial.suggest_int("count", 1, 3) if trial["kind"] == "a" else 5,
                   n_trials=12)
    assert all(("count" in trial.params) == (trial.params["kind"] == "a") and
               ("share" in trial.params) == (trial.params.get("count", 0) >= 2)
               for trial in study.trials)
    assert len({tuple(trial.params.items()) for trial in study.trials}) == 12  # none is tried again
    assert study.is_allowed({"kind": "b", "count": None})
    assert not study.is_allowed({"kind": "a"})
    asked = bayloom.Study({"kind": ["a", "b"]}).ask()
    with pytest.raises(bayloom.InputError, match="inactive"):
        asked.suggest_int("count", 1, 3)
    with pytest.raises(bayloom.InputError, match="not one of"):
        asked.suggest_categorical("kind", ["c"])
    with pytest.raises(bayloom.InputError, match="circle"):
        bayloom.Study({"x": [1, 2], "y": [1, 2]}, active_if={"x": "y == 1", "y": "x == 1"})
    with pytest.raises(bayloom.InputError, match="no parameter"):
        bayloom.Study({"x": [1, 2]}, active_if={"z": "x == 1"})
    with pytest.raises(bayloom.InputError, match="'count' has two conditions"):
        bayloom.Study(space, active_if={"count": "share > 0.5"})

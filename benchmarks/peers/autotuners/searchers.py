# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""One search of another autotuner on a recorded task: the configurations evaluated, in order."""

import ast
import contextlib
import io
import json
import os
import random
import tempfile
import warnings

KERNEL_TUNER = ["random_sample", "simulated_annealing", "genetic_algorithm", "diff_evo", "pso",
                "greedy_ils", "mls", "dual_annealing", "firefly_algorithm", "bayes_opt",
                "hybrid_vndx", "adaptive_tabu_greywolf"]
OPTUNA = ["optuna-tpe", "optuna-tpe-multivariate"]
BACO = ["baco"]
SMAC = ["smac"]
HEBO = ["hebo"]
WORST = 1e6  # what Optuna hears of a configuration without a value
NEAR = 0.01  # a search ends where no more is counted: so near to the optimum


def search(optimizer, task, seed, trials, cache):
    """Runs it until it has evaluated so many configurations, or one within NEAR of the best (Kernel
    Tuner's strategies go on)."""
    if optimizer in SMAC:
        return run_smac(task, seed, trials)
    if optimizer in HEBO:
        return run_hebo(task, seed, trials)
    if optimizer in OPTUNA:
        return run_optuna(task, optimizer.endswith("multivariate"), seed, trials)
    if optimizer in BACO:
        return run_baco(task, seed, trials)
    return run_kernel_tuner(task, optimizer, seed, trials, cache)


def run_kernel_tuner(task, strategy, seed, trials, cache):
    """The configurations that were evaluated, in order."""
    import kernel_tuner
    import numpy
    random.seed(seed)
    numpy.random.seed(seed)
    # A strategy that repeats itself ends by the number of new configurations.
    with contextlib.redirect_stdout(io.StringIO()):
        results, _ = kernel_tuner.tune_kernel(
            "recorded", "__global__ void recorded() {}", tuple(task.problem_size), [],
            task.parameters, restrictions=task.conditions + task.distinct, lang="CUDA",
            strategy=strategy,
            strategy_options={"max_fevals": min(trials, len(task.values))}, cache=cache,
            simulation_mode=True, quiet=True, objective="time")
    return [tuple(r[name] for name in task.parameters) for r in results]


def run_optuna(task, multivariate, seed, trials):
    """Parameters by the ranks of their values, each in turn replaced by the nearest one that the
    conditions leave, since Optuna knows no conditions; repetitions are free.

    What fails is told as breaking a constraint."""
    import optuna
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
    sampler = optuna.samplers.TPESampler(seed=seed, multivariate=multivariate, constant_liar=False)
    study = optuna.create_study(sampler=sampler)
    nearest = Nearest(task)
    evaluated = {}

    def rank(trial, name, values):
        if len(values) == 1:
            return 0
        if name in task.categorical:
            return trial.suggest_categorical(name, list(range(len(values))))
        return trial.suggest_int(name, 0, len(values) - 1)

    for _ in range(20 * trials):
        if is_over(task, evaluated, trials):
            break
        trial = study.ask()
        key = nearest([rank(trial, *parameter) for parameter in task.parameters.items()])
        value = evaluated.setdefault(key, task.values[key])
        trial.set_constraint("fails", 1.0 if value is None else -1.0)
        study.tell(trial, WORST if value is None else value)
    return list(evaluated)


def is_over(task, evaluated, trials):
    return len(evaluated) >= trials or any(
        value is not None and value <= (1 + NEAR) * task.optimum for value in evaluated.values())


def penalty(evaluated):
    """What SMAC3 and HEBO hear of a configuration without a value: twice the worst one."""
    return 2 * max((v for v in evaluated.values() if v is not None), default=WORST)


def run_smac(task, seed, trials):
    """SMAC3's HyperparameterOptimizationFacade as it is by default: a Sobol' sequence for a quarter of
    the trials, then a random forest, expected improvement of logarithms, local and random search.

    Parameters by the ranks of their values, replaced by the nearest feasible configuration as for
    Optuna; repetitions are free."""
    import logging
    from ConfigSpace import CategoricalHyperparameter, ConfigurationSpace
    from ConfigSpace import UniformIntegerHyperparameter
    from smac import HyperparameterOptimizationFacade, Scenario
    from smac.runhistory.dataclasses import TrialValue
    logging.disable(logging.ERROR)
    space = ConfigurationSpace(seed=seed)
    for name, values in task.parameters.items():
        if len(values) > 1:
            space.add(CategoricalHyperparameter(name, list(range(len(values))))
                      if name in task.categorical
                      else UniformIntegerHyperparameter(name, 0, len(values) - 1))
    nearest = Nearest(task)
    evaluated = {}
    with tempfile.TemporaryDirectory() as folder:
        scenario = Scenario(space, deterministic=True, n_trials=trials, seed=seed,
                            output_directory=folder)
        smac = HyperparameterOptimizationFacade(scenario, lambda config, seed=0: 0.0, overwrite=True,
                                                logging_level=False)
        for _ in range(3 * trials):
            if is_over(task, evaluated, trials):
                break
            try:
                info = smac.ask()
            except StopIteration:
                break
            chosen = dict(info.config)
            key = nearest([chosen.get(name, 0) for name in task.parameters])
            value = evaluated.setdefault(key, task.values[key])
            smac.tell(info, TrialValue(cost=penalty(evaluated) if value is None else value),
                      save=False)
    return list(evaluated)


def run_hebo(task, seed, trials):
    """HEBO as it is by default: its Gaussian process of warped inputs and outputs, an ensemble of
    three acquisition functions; first a Sobol' sequence, one more than there are parameters.

    Parameters by the ranks of their values, replaced by the nearest feasible configuration as for
    Optuna; repetitions are free."""
    import numpy
    import torch
    from hebo.design_space.design_space import DesignSpace
    from hebo.optimizers.hebo import HEBO as Hebo
    warnings.simplefilter("ignore")
    random.seed(seed)
    numpy.random.seed(seed)
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    space = DesignSpace().parse(
        [{"name": name, "type": "cat", "categories": list(range(len(values)))}
         if name in task.categorical else
         {"name": name, "type": "int", "lb": 0, "ub": len(values) - 1}
         for name, values in task.parameters.items() if len(values) > 1])
    nearest = Nearest(task)
    evaluated = {}
    optimizer = Hebo(space, scramble_seed=seed)
    for _ in range(3 * trials):
        if is_over(task, evaluated, trials):
            break
        with contextlib.redirect_stdout(io.StringIO()):
            asked = optimizer.suggest(n_suggestions=1)
        chosen = asked.iloc[0].to_dict()
        key = nearest([int(chosen.get(name, 0)) for name in task.parameters])
        value = evaluated.setdefault(key, task.values[key])
        optimizer.observe(asked, numpy.array([[penalty(evaluated) if value is None else value]]))
    return list(evaluated)


class Nearest:
    """The configuration next to any ranks of values: parameter by parameter, the nearest rank with
    which the ones before it can be completed."""

    def __init__(self, task):
        self.parameters = list(task.parameters.values())
        self.root = {}
        for key in task.values:
            node = self.root
            for values, value in zip(self.parameters, key):
                node = node.setdefault(values.index(value), {})

    def __call__(self, ranks):
        node, key = self.root, []
        for values, rank in zip(self.parameters, ranks):
            rank = min(node, key=lambda possible: abs(possible - rank))
            node = node[rank]
            key.append(values[rank])
        return tuple(key)


class Enough(Exception):
    """Ends a search of BaCO."""


def run_baco(task, seed, trials):
    """BaCO (github.com/baco-authors/baco, on the module path) with the settings of its authors'
    compiler scenarios: logarithmic objective, feasibility model, its default Gaussian process.
    Permutations are its own, with Spearman's distance.

    It may ask for a configuration again, which costs nothing here."""
    import baco.param.transformations
    import baco.run
    import numpy
    import torch
    random.seed(seed)
    numpy.random.seed(seed)
    torch.manual_seed(seed)
    baco.param.transformations.warnings = warnings  # which it uses for permutations, not imported
    evaluated = {}
    asked = 0

    def evaluate(configuration):
        nonlocal asked
        asked += 1
        chosen = dict(configuration)
        for name in task.permutations:
            order = chosen.pop(name)
            order = ast.literal_eval(order) if isinstance(order, str) else order
            chosen.update((f"{name}_i{item}", place) for place, item in enumerate(order))
        key = tuple(int(float(chosen[name])) if name in chosen else values[0]
                    for name, values in task.parameters.items())
        value = evaluated.setdefault(key, task.values[key])
        if is_over(task, evaluated, trials) or asked >= 3 * trials:
            raise Enough
        return {"time": 1.0 if value is None else value, "Valid": value is not None}

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "scenario.json")
        with open(path, "w") as file:
            json.dump(baco_scenario(task, folder, trials), file)
        from baco.util.file import read_settings_file
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Enough):
            baco.run.optimize(read_settings_file(path), evaluate)
    return list(evaluated)


def baco_scenario(task, folder, trials):
    """The task as BaCO reads it; a condition belongs to the last of its parameters.

    Parameters of one value are left out, for BaCO divides by their range."""
    owner_of = {f"{name}_i{item}": name for name, size in task.permutations.items()
                for item in range(size)}
    varying = {name: values for name, values in task.parameters.items()
               if len(values) > 1 and name not in owner_of}
    parameters = {}
    for name, values in varying.items():
        parameters[name] = {"parameter_type": "ordinal", "values": sorted(values),
                            "constraints": [], "dependencies": []}
        if name in task.categorical:
            parameters[name].update(parameter_type="categorical", values=[str(v) for v in values])
        elif is_geometric(sorted(values)):
            parameters[name]["transform"] = "log"
    for name, size in task.permutations.items():
        varying[name] = None
        parameters[name] = {"parameter_type": "permutation", "values": [size],
                            "parametrization": "spearman", "constraints": [], "dependencies": []}
    for condition in task.conditions:
        tree = FillIn(task.parameters).visit(ast.parse(condition, mode="eval")).body
        names = {owner_of.get(node.id, node.id) for node in ast.walk(tree)
                 if isinstance(node, ast.Name)}
        ordered = [name for name in varying if name in names]
        owner = parameters[ordered[-1]]
        owner["constraints"].append(to_numexpr(tree))
        owner["dependencies"] += [n for n in ordered[:-1] if n not in owner["dependencies"]]
    for parameter in parameters.values():
        if not parameter["constraints"]:
            del parameter["constraints"], parameter["dependencies"]
    return {"application_name": "recorded", "optimization_objectives": ["time"],
            "optimization_iterations": 3 * trials, "log_transform_output": True,
            "design_of_experiment": {"doe_type": "random sampling", "number_of_samples": 10},
            "models": {"model": "gaussian_process"},
            "feasible_output": {"enable_feasible_predictor": True, "name": "Valid",
                                "true_value": "True", "false_value": "False"},
            "run_directory": folder, "input_parameters": parameters}


class FillIn(ast.NodeTransformer):
    """Replaces the names of parameters of one value by the value."""

    def __init__(self, parameters):
        self.parameters = parameters

    def visit_Name(self, node):
        values = self.parameters[node.id]
        return ast.Constant(values[0]) if len(values) == 1 else node


def is_geometric(values):
    return (len(values) > 2 and values[0] > 0
            and all(b * values[0] == a * values[1] for a, b in zip(values, values[1:])))


def to_numexpr(node):
    """A Python condition in BaCO's language, which has no `and` and no chains of comparisons."""
    if isinstance(node, ast.BoolOp):
        symbol = " | " if isinstance(node.op, ast.Or) else " & "
        return symbol.join(f"({to_numexpr(value)})" for value in node.values)
    if isinstance(node, ast.Compare) and len(node.ops) > 1:
        operands = [node.left, *node.comparators]
        links = [ast.Compare(a, [op], [b])
                 for a, op, b in zip(operands, node.ops, node.comparators)]
        return " & ".join(f"({ast.unparse(link)})" for link in links)
    return ast.unparse(node)

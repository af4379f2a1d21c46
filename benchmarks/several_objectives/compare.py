#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Hypervolumes that searches for several objectives reach, of Bayloom, Optuna and BoTorch.

    build/venv/bin/pip install optuna botorch
    PYTHONPATH=build/release/python build/venv/bin/python benchmarks/several_objectives/compare.py

Every search is a line of --out as soon as it has ended; run again, only those that are missing are
done. The table gives the share of the best possible hypervolume that is missing after 50 and 100
evaluations, median and quartiles over the seeds. Where the true front is not known, the best found
by any search counts as possible. With --table or --pair nothing is searched: the lines of --out
become the tables of the study.
"""

import argparse
import json
import pathlib
import sys
import time
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import tables  # noqa: E402
from problems import hypervolume, problems  # noqa: E402

CHECKPOINTS = (50, 100)


def bayloom(problem, seed, trials, evaluate, optimizer="bayesian", thresholds=None):
    import bayloom as package
    space = {name: package.Real(*domain) if isinstance(domain, tuple) else
             package.Ordinal(domain) if isinstance(domain[0], int) else package.Categorical(domain)
             for name, domain in problem.parameters.items()}
    study = package.Study(space, directions=["minimize"] * len(problem.reference), seed=seed,
                          optimizer=optimizer, thresholds=thresholds)

    def objective(trial):
        values = evaluate(dict(trial))
        if values is None:
            raise package.Infeasible("does not work")
        return values

    study.optimize(objective, n_trials=trials)


def _optuna(problem, trials, evaluate, sampler):
    import optuna
    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def objective(trial):
        params = {name: trial.suggest_float(name, *domain) if isinstance(domain, tuple) else
                  trial.suggest_categorical(name, domain)
                  for name, domain in problem.parameters.items()}
        values = evaluate(params)
        if values is None:
            raise optuna.TrialPruned
        return values

    study = optuna.create_study(directions=["minimize"] * len(problem.reference), sampler=sampler)
    study.optimize(objective, n_trials=trials)


def nsga2(problem, seed, trials, evaluate):
    import optuna
    _optuna(problem, trials, evaluate, optuna.samplers.NSGAIISampler(seed=seed))


def tpe(problem, seed, trials, evaluate):
    import optuna
    _optuna(problem, trials, evaluate, optuna.samplers.TPESampler(seed=seed))


def told(problem, seed, trials, evaluate):
    """Told from where hypervolumes are measured, as BoTorch is."""
    thresholds = {f"value_{k}": value for k, value in enumerate(problem.reference)}
    bayloom(problem, seed, trials, evaluate, thresholds=thresholds)


def random(problem, seed, trials, evaluate):
    bayloom(problem, seed, trials, evaluate, optimizer="random")


def genetic(problem, seed, trials, evaluate):
    bayloom(problem, seed, trials, evaluate, optimizer="genetic")


def qlognehvi(problem, seed, trials, evaluate):
    """BoTorch as in its tutorial of multi-objective optimization, one at a time.

    One SingleTaskGP of several outputs is a process of its own for each of them, as the tutorial's
    ModelListGP is, but fits and predicts all of them at once. The limits of batches say only how
    much memory may be used: points and their utilities are the same with any.
    """
    import torch
    from botorch.acquisition.multi_objective.logei import qLogNoisyExpectedHypervolumeImprovement
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.models.transforms import Standardize
    from botorch.optim import optimize_acqf
    from botorch.sampling.normal import SobolQMCNormalSampler
    from gpytorch.mlls import ExactMarginalLogLikelihood
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    torch.set_default_dtype(torch.double)
    names, domains = list(problem.parameters), list(problem.parameters.values())
    d = len(names)

    def decode(row):
        """A list's values are equal parts of the unit interval, in their order."""
        return {name: domain[0] + u * (domain[1] - domain[0]) if isinstance(domain, tuple) else
                domain[min(int(u * len(domain)), len(domain) - 1)]
                for name, domain, u in zip(names, domains, row.tolist())}

    start = torch.quasirandom.SobolEngine(d, scramble=True, seed=seed).draw(2 * (d + 1)).double()
    x, values, tried = [], [], 0
    while tried < trials:
        if tried < len(start) or len(x) < 2:
            point = start[tried] if tried < len(start) else torch.rand(d)
        else:
            rows = torch.stack(x)
            y = -torch.tensor(values)
            model = SingleTaskGP(rows, y, outcome_transform=Standardize(y.shape[1]))
            fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
            utility = qLogNoisyExpectedHypervolumeImprovement(
                model, ref_point=[-r for r in problem.reference], X_baseline=rows,
                prune_baseline=True, sampler=SobolQMCNormalSampler(torch.Size([128]), seed=seed))
            point, _ = optimize_acqf(
                utility, torch.tensor([[0.0] * d, [1.0] * d]), q=1, num_restarts=10,
                raw_samples=512,
                options={"batch_limit": 10, "init_batch_limit": 32, "maxiter": 200})
            point = point[0].detach()
        tried += 1
        found = evaluate(decode(point))
        # What does not work is as bad as the worst seen; it has no value of its own.
        if found is None and not values:
            continue
        x.append(point)
        values.append(list(found or [max(v) for v in zip(*values)]))


METHODS = {"bayloom": bayloom, "bayloom-told": told, "bayloom-genetic": genetic, "random": random,
           "optuna-nsga2": nsga2, "optuna-tpe": tpe, "botorch-qlognehvi": qlognehvi}


def run(problem, method, seed):
    """Hypervolumes at the checkpoints, and the seconds between evaluations."""
    points, volumes, outside = [], [], [0.0, 0.0]

    def evaluate(params):
        if len(volumes) >= CHECKPOINTS[-1]:
            return None
        begun = time.monotonic(), time.process_time()
        found = problem.evaluate(params)
        if found is not None:
            points.append(tuple(found))
        volumes.append(hypervolume(points, problem.reference)
                       if len(volumes) + 1 in CHECKPOINTS else None)
        outside[0] += time.monotonic() - begun[0]
        outside[1] += time.process_time() - begun[1]
        return found

    begun = time.monotonic(), time.process_time()
    METHODS[method](problem, seed, CHECKPOINTS[-1], evaluate)
    volumes += [hypervolume(points, problem.reference)] * (CHECKPOINTS[-1] - len(volumes))
    return {"problem": problem.name, "method": method, "seed": seed,
            "hypervolume": {str(n): volumes[n - 1] for n in CHECKPOINTS},
            "seconds": round(time.monotonic() - begun[0] - outside[0], 3),
            "processor_seconds": round(time.process_time() - begun[1] - outside[1], 3)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", default="several_objectives.jsonl", help="a line for each search")
    parser.add_argument("--seeds", type=int, default=20, help="how many")
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--problems", default=None, help="names, with commas between")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--table", action="store_true", help="print what --out has, as Markdown")
    parser.add_argument("--pair", default=None, metavar="METHOD,METHOD",
                        help="print the searches of two methods with the same seeds, as Markdown")
    arguments = parser.parse_args()
    pair = arguments.pair.split(",") if arguments.pair else []
    if pair and (len(pair) != 2 or not set(pair) <= METHODS.keys()):
        parser.error(f"--pair takes two of {', '.join(METHODS)}, with a comma between")
    warnings.simplefilter("ignore")
    made = problems()
    if arguments.problems:
        made = {name: made[name] for name in arguments.problems.split(",")}
    out = pathlib.Path(arguments.out)
    rows = [json.loads(line) for line in out.read_text().splitlines()] if out.exists() else []
    if arguments.table or pair:
        missing = tables.Missing(rows, made, CHECKPOINTS)
        print(tables.pairs(missing, *pair) if pair else tables.markdown(missing))
        return
    done = {(r["problem"], r["method"], r["seed"]) for r in rows
            if len(r["hypervolume"]) == len(CHECKPOINTS)}  # not stopped on its way
    for seed in range(arguments.first_seed, arguments.first_seed + arguments.seeds):
        for problem in made.values():
            for method in arguments.methods.split(","):
                if (problem.name, method, seed) in done:
                    continue
                rows.append(run(problem, method, seed))
                with out.open("a") as file:
                    file.write(json.dumps(rows[-1]) + "\n")
    print(tables.text(tables.Missing(rows, made, CHECKPOINTS)))


if __name__ == "__main__":
    main()

# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""Tables of the searches that compare.py has made: shares of the best hypervolume that are missing.

A search is a dict with `problem`, `method`, `seed`, `hypervolume` (by the number of evaluations, as
text), `seconds`, and `processor_seconds` where that was recorded. One that was stopped on its way
has the first hypervolumes only, and counts in no table of seconds.
"""

import statistics

NAMES = {"bayloom": "Bayloom", "bayloom-told": "Bayloom, told", "optuna-tpe": "Optuna TPE",
         "optuna-nsga2": "Optuna NSGA-II", "bayloom-genetic": "Bayloom `genetic`",
         "random": "random", "botorch-qlognehvi": "BoTorch"}


class Missing:
    """Per cent of the best possible hypervolume that searches left.

    Where the true front is not known, the best found by any of the searches counts as possible.
    """

    def __init__(self, rows, problems, checkpoints):
        self.checkpoints, self.problems, self._rows = checkpoints, list(problems), {}
        best = {name: problem.best or max((volume for row in rows if row["problem"] == name
                                           for volume in row["hypervolume"].values()), default=0)
                for name, problem in problems.items()}
        # Those that were stopped come first: the same search may have ended in another run.
        for row in sorted(rows, key=lambda row: len(row["hypervolume"])):
            if row["problem"] in best:
                shares = {n: 100 * (1 - row["hypervolume"][str(n)] / best[row["problem"]])
                          for n in checkpoints if str(n) in row["hypervolume"]}
                self._rows.setdefault((row["problem"], row["method"]), {})[row["seed"]] = (
                    shares, row)

    def of(self, problem, method, n):
        """By seed."""
        return {seed: shares[n] for seed, (shares, _) in self._of(problem, method).items()
                if n in shares}

    def seconds(self, problem, method):
        """The median: of processor time where all searches have it, else of time. None if no
        search has ended."""
        rows = [row for shares, row in self._of(problem, method).values()
                if len(shares) == len(self.checkpoints)]
        if not rows:
            return None
        kind = "processor_seconds" if all("processor_seconds" in r for r in rows) else "seconds"
        return statistics.median(row[kind] for row in rows)

    def methods(self):
        """Those that have searches."""
        known = {method for _, method in self._rows}
        return [method for method in NAMES if method in known]

    def _of(self, problem, method):
        return self._rows.get((problem, method), {})


def _number(value):
    return f"{value:.1f}" if abs(value) >= 0.995 else f"{value:.2f}"


def _seconds(missing, problem, method):
    seconds = missing.seconds(problem, method)
    return "" if seconds is None else f"{seconds:.1f}"


def _cell(shares):
    """Median and quartiles; nothing if there are none."""
    values = sorted(shares)
    if not values:
        return ""
    low, high = (values[q * (len(values) - 1) // 4] for q in (1, 3))
    return f"{_number(statistics.median(values))} ({_number(low)} .. {_number(high)})"


def text(missing):
    """A line for each problem and method."""
    lines = [f"{'problem':<16}{'method':<20}{'seeds':>5}  " +
             "".join(f"{f'% missing after {n}':<26}" for n in missing.checkpoints) + "seconds"]
    for problem in missing.problems:
        for method in missing.methods():
            shares = [missing.of(problem, method, n).values() for n in missing.checkpoints]
            if shares[0]:
                lines.append(f"{problem:<16}{method:<20}{len(shares[0]):>5}  " +
                             "".join(f"{_cell(s):<26}" for s in shares) +
                             _seconds(missing, problem, method))
    return "\n".join(lines)


def markdown(missing):
    """A table with a column for each method, and one for each method that has fewer searches than
    Bayloom: both on the seeds that both have."""
    counts = {method: sum(len(missing.of(p, method, missing.checkpoints[0]))
                          for p in missing.problems) for method in missing.methods()}
    complete = [method for method in counts if counts[method] == max(counts.values())]
    tables = [_all_seeds(missing, complete)]
    if "bayloom" in complete:
        tables += [pairs(missing, "bayloom", method) for method in counts
                   if method not in complete]
    return "\n\n".join(tables)


def _all_seeds(missing, methods):
    lines = ["| problem | after | " + " | ".join(NAMES[m] for m in methods) + " |",
             "|" + "---|" * (2 + len(methods))]
    for problem in missing.problems:
        for n in missing.checkpoints:
            cells = [missing.of(problem, method, n).values() for method in methods]
            shown = problem if n == missing.checkpoints[0] else ""
            lines.append(f"| {shown} | {n} | " +
                         " | ".join(_cell(c) for c in cells) + " |")
    return "\n".join(lines)


def pairs(missing, one, other):
    """A table of two methods on the seeds that both have. `less`: in how many pairs of one seed
    the first left less than the other."""
    lines = [f"| problem | seeds | after | {NAMES[one]} | {NAMES[other]} | less, more | "
             f"seconds, {NAMES[one]} | {NAMES[other]} |", "|" + "---|" * 8]
    for problem in missing.problems:
        for n in missing.checkpoints:
            ours, theirs = missing.of(problem, one, n), missing.of(problem, other, n)
            seeds = sorted(ours.keys() & theirs.keys())
            if not seeds:
                continue
            less = sum(ours[seed] < theirs[seed] for seed in seeds)
            more = sum(ours[seed] > theirs[seed] for seed in seeds)
            is_first = n == missing.checkpoints[0]
            times = [_seconds(missing, problem, m) for m in (one, other)]
            lines.append(
                f"| {problem if is_first else ''} | {len(seeds)} | {n} | "
                f"{_cell([ours[seed] for seed in seeds])} | "
                f"{_cell([theirs[seed] for seed in seeds])} | {less}, {more} | " +
                (" | ".join(times) if not is_first else " | ") + " |")
    return "\n".join(lines)

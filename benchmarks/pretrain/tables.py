# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""What pre-training with active learning is worth on this machine (Bi et al. 2023): the pool that
everything is measured on, selection methods compared on it (table 1, figures 1 and 8), the loop run
for real, networks tuned with and without a pre-trained model (table 2), and matrix products of many
sizes (section 4.3). Each step prints its table and keeps its data in the folder; a step given again
goes on.

    python3 benchmarks/pretrain/tables.py build/release/bin/bayloom --folder /tmp/pretrain \\
        --threads 1 --networks resnet18.onnx resnet50.onnx mobilenetv2.onnx bert_tiny.onnx \\
        collect selections distribution loop networks products

`collect` measures everything once, which takes about half an hour with the defaults.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import shlex
import shutil
import sqlite3
import statistics
import subprocess

# Programs of other tunings are no part of what is measured here.
os.environ["BAYLOOM_STORE"] = "off"

FAMILIES = ["conv2d", "conv2d-grouped", "conv2d-dilated", "depthwise", "dense", "batch-matmul",
            "pooling", "softmax", "layer-norm", "elementwise"]
SELECTIONS = ["random", "gsx", "gsy", "igs", "uncertainty", "core-set", "output-diversity",
              "biased-diversity", "greedy"]
SCRATCH_TRIALS = 1000


def quartiles(values):
    """Of up to three values: the least and the largest."""
    if len(values) < 4:
        return min(values), max(values)
    low, _, high = statistics.quantiles(values, n=4, method="inclusive")
    return low, high


def spread(values, form="{:.1f}"):
    """"87.3 (86.9 .. 87.7)": the median and the quartiles."""
    low, high = quartiles(values)
    return f"{form} ({form} .. {form})".format(statistics.median(values), low, high)


class Bench:
    def __init__(self, options):
        self.options = options
        self.folder = pathlib.Path(options.folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.pool = str(self.folder / "pool.db")
        self.held_out = ",".join(pathlib.Path(n).stem for n in options.networks)
        self.selections_program = [pathlib.Path(options.bayloom).with_name("bayloom-selections")]

    def run(self, program, *arguments, real=False):
        threads = ["--threads", self.options.threads] if self.options.threads else []
        prefix = shlex.split(self.options.real_prefix) if real else []
        command = [*prefix, *program, *arguments, *threads]
        print("$", shlex.join(map(str, command)), flush=True)
        return subprocess.run(list(map(str, command)), check=True, stdout=subprocess.PIPE,
                              text=True).stdout

    def collect(self):
        """The reference: every program of the pool measured once."""
        print(self.run([self.options.bayloom, "pretrain"], *self.options.networks,
                       "--db", self.pool, "--families", *FAMILIES, "--tasks-per-family", self.options.tasks,
                       "--programs-per-task", self.options.programs, "--share", 1, "--rounds", 1,
                       "--time", "24h", "--out", self.folder / "everything.model", real=True))

    def simulate(self, name, *arguments, pool=None):
        """The row of one run on recorded measurements."""
        result = self.folder / f"simulated.{name}.json"
        if not result.exists():
            held_out = ["--hold-out", self.held_out] if self.held_out else []
            result.write_text(self.run(self.selections_program, pool or self.pool, "--json",
                                       *held_out, *arguments))
        return json.loads(result.read_text())[0]

    def rows(self, model, share, selection):
        """By seed."""
        rounds = 1 if share == 1 else self.options.rounds
        return [self.simulate(f"{model}.{share}.{rounds}.{selection}.{seed}", "--models", model,
                              "--share", share, "--rounds", rounds, "--selections", selection,
                              "--seed", seed)
                for seed in range(self.options.seeds)]

    def selections(self):
        """Table 1's shape: everything, then each method at 5 % and 2.5 %."""
        for model in self.options.models:
            print()
            full = self.rows(model, 1, "random")
            whole = statistics.median(row["top-1 %"] for row in full)
            print(f"| {model} | measured | top-1 % | of the full model's | top-5 % | fast % | RMSE "
                  "| R2 | pairwise | selecting, training s |")
            for share in (1, *self.options.shares):
                for selection in self.options.selections if share < 1 else ["random"]:
                    self.print_row(selection, self.rows(model, share, selection), whole)

    @staticmethod
    def print_row(selection, rows, whole):
        of = {key: [row[key] for row in rows] for key in rows[0]}
        median = statistics.median
        cells = [selection, f"{median(of['measured']):,.0f}", spread(of["top-1 %"]),
                 f"{100 * median(of['top-1 %']) / whole:.1f} %", spread(of["top-5 %"]),
                 f"{median(of['fast %']):.1f}", f"{median(of['rmse']):.3f}",
                 f"{median(of['r2']):.3f}", f"{median(of['pairwise']):.3f}",
                 f"{median(of['select s']):.2f}, {median(of['train s']):.1f}"]
        print("| " + " | ".join(cells) + " |", flush=True)

    def distribution(self):
        """Figures 1 and 8: how fast what was measured is."""
        for selection in ("random", "output-diversity", "biased-diversity", "greedy"):
            self.simulate(f"chart.{selection}", "--selections", selection, "--rounds",
                          self.options.rounds, "--chart", self.folder / f"{selection}.svg")
            rows = self.rows("xgboost", 0.05, selection)
            print(f"| {selection} | {spread([row['fast %'] for row in rows])} |")

    def loop(self):
        """Where the time of the loop goes when it measures."""
        pool = self.folder / "loop.db"
        shutil.copy(self.pool, pool)
        with contextlib.closing(sqlite3.connect(pool)) as database:
            database.execute("DELETE FROM trials")
            database.commit()
        held_out = ["--hold-out", self.held_out] if self.held_out else []
        for selection in ("biased-diversity", "greedy"):
            fresh = self.folder / f"loop.{selection}.db"
            shutil.copy(pool, fresh)
            row = json.loads(self.run(self.selections_program, fresh, "--measure", "--json",
                                      *held_out, "--rounds", self.options.rounds, "--selections",
                                      selection, real=True))[0]
            seconds = {part: row[f"{part} s"] for part in ("train", "predict", "select", "measure")}
            whole = sum(seconds.values())
            print(f"| {selection} | {row['measured']} | " +
                  " | ".join(f"{t:.3g} s ({100 * t / whole:.2g} %)" for t in seconds.values()) +
                  " |", flush=True)

    def models(self):
        """Files of the models of all measurements and of 5 %, trained without the networks."""
        files = {"full": self.folder / "full.model", "5%": self.folder / "five.model"}
        self.simulate("full-model", "--share", 1, "--rounds", 1, "--selections", "random", "--out",
                      files["full"])
        self.simulate("five-model", "--share", 0.05, "--rounds", self.options.rounds,
                      "--selections", "greedy", "--out", files["5%"])
        return files

    def shuffled_model(self):
        """A model that is wrong: trained on times that were dealt to other programs of the task."""
        model = self.folder / "shuffled.model"
        if not model.exists():
            pool = self.folder / "shuffled.db"
            shutil.copy(self.pool, pool)
            with contextlib.closing(sqlite3.connect(pool)) as database:
                by_task = {}
                for trial, task, seconds in database.execute(
                        "SELECT id, task, value FROM trials WHERE verdict = 'ok'"):
                    by_task.setdefault(task, ([], []))
                    by_task[task][0].append(trial)
                    by_task[task][1].append(seconds)
                dealer = random.Random(0)
                for trials, seconds in by_task.values():
                    dealer.shuffle(seconds)
                    database.executemany("UPDATE trials SET value = ? WHERE id = ?",
                                         zip(seconds, trials))
                database.commit()
            self.simulate("shuffled-model", "--share", 1, "--rounds", 1, "--selections", "random",
                          "--out", model, pool=pool)
            pool.unlink()
        return model

    def tune(self, subject, name, trials, seed, model=None):
        """What `bayloom tune` printed, with the curve of its session."""
        database = self.folder / f"{name}.{seed}.db"
        result = self.folder / f"{name}.{seed}.json"
        if not result.exists():
            database.unlink(missing_ok=True)
            extra = ["--learn-from", model] if model else []
            answer = json.loads(self.run([self.options.bayloom, "tune"], *subject, "--strategy",
                                         self.options.strategy, "--trials", trials, "--seed", seed,
                                         "--db", database, "--json", *extra, real=True))
            report = [self.options.bayloom, "report", database, "--json"]
            answer["report"] = json.loads(subprocess.run(report, check=True, text=True,
                                                         stdout=subprocess.PIPE).stdout)
            result.write_text(json.dumps(answer))
        return json.loads(result.read_text())

    def networks(self):
        """Table 2's shape, with what scratch needs to match."""
        files = {**self.models(), "shuffled": self.shuffled_model()}
        print("| network | scratch, 200 trials | full model | 5 % model | shuffled model "
              f"| scratch, {SCRATCH_TRIALS:,} trials "
              "| trials from scratch to match the 5 % model |")
        for network in self.options.networks:
            stem = pathlib.Path(network).stem
            seeds = range(self.options.seeds)
            times = {name: [self.tune([network], f"{stem}.{name}.200", 200, seed, model)["total"]
                            for seed in seeds]
                     for name, model in [("scratch", None), *files.items()]}
            long = [self.tune([network], f"{stem}.scratch", SCRATCH_TRIALS, seed)
                    for seed in seeds]
            times["long"] = [answer["total"] for answer in long]
            goal = statistics.median(times["5%"])
            matching = [self.trials_until(answer, goal) for answer in long]
            cells = [spread([1e3 * t for t in values], "{:.2f}") for values in times.values()]
            cells.append(", ".join(map(str, matching)))
            print(f"| {stem} | " + " | ".join(cells) + " |", flush=True)

    @staticmethod
    def trials_until(answer, goal):
        for trials, _, latency in answer["report"][0]["latency_after"]:
            if latency is not None and latency <= goal:
                return trials
        return f"more than {answer['trials']}"

    def products(self):
        """Section 4.3: N = 512 + 64 i, 100 trials with the model against 1,000 without."""
        model = self.models()["5%"]
        ratios, seconds = [], [0.0, 0.0]
        for i in range(self.options.sizes):
            n = 512 + 64 * i
            subject = ["--op", f"matmul:{n},{n},{n}"]
            without = self.tune(subject, f"matmul{n}.without", 1000, 0)
            fast = self.tune(subject, f"matmul{n}.with", 100, 0, model)
            ratios.append(without["total"] / fast["total"])
            seconds[0] += fast["seconds"]
            seconds[1] += without["seconds"]
            print(f"| {n} | {1e3 * without['total']:.3f} | {1e3 * fast['total']:.3f} | "
                  f"{ratios[-1]:.3f} | {without['seconds']:.0f} | {fast['seconds']:.0f} |",
                  flush=True)
        print(f"relative performance {min(ratios):.3f} to {max(ratios):.3f}, mean "
              f"{statistics.mean(ratios):.3f}; {seconds[0]:.0f} s against {seconds[1]:.0f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bayloom", help="the program")
    parser.add_argument("--folder", required=True, help="where data are kept")
    parser.add_argument("--networks", nargs="*", default=[], help="held out of training (ONNX)")
    parser.add_argument("--threads", type=int, help="of the code that is tuned")
    parser.add_argument("--tasks", type=int, default=12, help="tasks per operator family")
    parser.add_argument("--programs", type=int, default=220, help="programs per task")
    parser.add_argument("--models", nargs="*", default=["xgboost", "mlp"])
    parser.add_argument("--selections", nargs="*", default=SELECTIONS)
    parser.add_argument("--shares", nargs="*", type=float, default=[0.05, 0.025])
    parser.add_argument("--rounds", type=int, default=5, help="of the loop")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--sizes", type=int, default=16, help="how many products, from N = 512 on")
    parser.add_argument("--strategy", default="evolutionary", help="of the tunings")
    parser.add_argument("--real-prefix", default="",
                        help="a command before those that measure, such as 'taskset -c 1'")
    parser.add_argument("steps", nargs="+",
                        choices=["collect", "selections", "distribution", "loop", "networks",
                                 "products"])
    options = parser.parse_args()
    bench = Bench(options)
    for step in options.steps:
        getattr(bench, step)()


if __name__ == "__main__":
    main()

"""What pre-training with active learning is worth on this machine (Bi et al. 2023): the pool that
everything is measured on, selection methods compared on it (table 1, figures 1 and 8), networks
tuned with and without a pre-trained model (table 2), and matrix products of many sizes (section
4.3). Each step prints its table and keeps its data in the folder; a step given again goes on.

    python3 benchmarks/pretrain/tables.py build/release/bin/bayloom --folder /tmp/pretrain \\
        --networks resnet18.onnx resnet50.onnx mobilenetv2.onnx bert_tiny.onnx \\
        collect selections networks products

`collect` measures everything once, which takes about an hour with the defaults.
"""

import argparse
import json
import pathlib
import subprocess
import time

FAMILIES = ["conv2d", "conv2d-grouped", "conv2d-dilated", "depthwise", "dense", "batch-matmul",
            "pooling", "softmax", "layer-norm", "elementwise"]
SELECTIONS = ["random", "gsx", "gsy", "igs", "core-set", "uncertainty", "output-diversity",
              "biased-diversity"]
MODELS = ["xgboost", "mlp"]


class Bench:
    def __init__(self, options):
        self.options = options
        self.folder = pathlib.Path(options.folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.pool = str(self.folder / "pool.db")
        self.held_out = ",".join(pathlib.Path(n).stem for n in options.networks)

    def run(self, *arguments):
        command = [self.options.bayloom, *map(str, arguments)]
        print("$", " ".join(command), flush=True)
        return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout

    def collect(self):
        """The reference: every program of the pool measured once."""
        programs = self.options.programs
        arguments = ["dataset", self.pool, "--families", *FAMILIES, "--tasks-per-family",
                     self.options.tasks, "--programs-per-task", programs, "--measure", programs]
        if self.options.networks:
            arguments += ["--networks", *self.options.networks]
        print(self.run(*arguments))

    def pretrain(self, *arguments):
        held_out = ["--hold-out", self.held_out] if self.held_out else []
        return self.run("pretrain", self.pool, "--simulate", *held_out, *arguments)

    def selections(self):
        """Table 1's shape: everything, then each method at 5 % and 2.5 %; and figure 8."""
        seeds = ["--seeds", self.options.seeds]
        models = ["--model", ",".join(MODELS)]
        print(self.pretrain("--share", 1, "--rounds", 1, "--selection", "random", *models, *seeds))
        for share in (0.05, 0.025):
            print(self.pretrain("--share", share, "--selection", ",".join(SELECTIONS), *models,
                                *seeds))
        for selection in ("random", "biased-diversity"):
            self.pretrain("--selection", selection, "--chart", self.folder / f"{selection}.svg")

    def models(self):
        """Files of the models of all measurements and of 5 %, trained without the networks."""
        files = {"full": self.folder / "full.model", "5%": self.folder / "five.model"}
        self.pretrain("--share", 1, "--rounds", 1, "--selection", "random", "--out", files["full"])
        self.pretrain("--share", 0.05, "--out", files["5%"])
        return files

    def tune(self, subject, name, trials, seed, model=None):
        """Seconds of the best programs, and of tuning."""
        database = self.folder / f"{name}.{seed}.db"
        result = self.folder / f"{name}.{seed}.json"
        if not result.exists():
            database.unlink(missing_ok=True)
            begun = time.monotonic()
            extra = ["--cost-model", model] if model else []
            answer = json.loads(self.run("tune", *subject, "--trials", trials, "--seed", seed,
                                         "--db", database, "--json", *extra))
            answer["wall"] = time.monotonic() - begun
            result.write_text(json.dumps(answer))
        answer = json.loads(result.read_text())
        return answer["total"], answer["wall"]

    def networks(self):
        """Table 2's shape, with what scratch needs to match."""
        files = self.models()
        print(f"{'network':24} {'scratch':>10} {'full':>10} {'5 %':>10}   scratch, more trials")
        for network in self.options.networks:
            stem = pathlib.Path(network).stem
            row = {}
            for name, model in [("scratch", None), *files.items()]:
                totals = [self.tune([network], f"{stem}.{name}.200", 200, seed, model)[0]
                          for seed in range(self.options.seeds)]
                row[name] = sum(totals) / len(totals)
            more = []
            for trials in (400, 1000, 2000):
                total = self.tune([network], f"{stem}.scratch.{trials}", trials, 0)[0]
                more.append(f"{trials}: {1e3 * total:.3f} ms")
                if total <= row["5%"]:
                    break
            times = " ".join(f"{1e3 * row[name]:7.3f} ms" for name in ("scratch", "full", "5%"))
            print(f"{stem:24} {times}   {', '.join(more)}", flush=True)

    def products(self):
        """Section 4.3: N = 512 + 64 i, 100 trials with the model against 1,000 without."""
        model = self.models()["5%"]
        ratios, seconds = [], [0.0, 0.0]
        for i in range(0, 80, self.options.stride):
            n = 512 + 64 * i
            subject = ["--op", f"matmul:{n},{n},{n}"]
            without, without_wall = self.tune(subject, f"matmul{n}.without", 1000, 0)
            fast, fast_wall = self.tune(subject, f"matmul{n}.with", 100, 0, model)
            ratios.append(without / fast)
            seconds[0] += fast_wall
            seconds[1] += without_wall
            print(f"N = {n}: {ratios[-1]:.3f} of the performance", flush=True)
        print(f"relative performance {min(ratios):.3f} to {max(ratios):.3f}, mean "
              f"{sum(ratios) / len(ratios):.3f}; {seconds[0]:.0f} s against {seconds[1]:.0f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bayloom", help="the program")
    parser.add_argument("--folder", required=True, help="where data are kept")
    parser.add_argument("--networks", nargs="*", default=[], help="held out of training (ONNX)")
    parser.add_argument("--tasks", type=int, default=12, help="tasks per operator family")
    parser.add_argument("--programs", type=int, default=340, help="programs per task")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--stride", type=int, default=1, help="every how many sizes of products")
    parser.add_argument("steps", nargs="+", choices=["collect", "selections", "networks", "products"])
    options = parser.parse_args()
    bench = Bench(options)
    for step in options.steps:
        getattr(bench, step)()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Real tunings under several schedulers: how soon each reaches sequential's lowest latency.

    python3 benchmarks/scheduling/compare.py --trials 1000 --seeds 3 resnet18.onnx bert_tiny.onnx

Every tuning has a database of its own in the folder of --out, so that a run that was stopped goes
on where it was; `bayloom report` draws them. Tunings of one network alternate between schedulers,
so that a change of the machine hits all alike. Only the standard library is needed.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import sys

# Of two latencies this near, neither is lower: measurements wander by as much.
TOLERANCE = 1.005
SCHEDULERS = "sequential,round-robin,linear,gradient,dynatune"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--bayloom", default="build/release/bin/bayloom")
    parser.add_argument("--schedulers", default=SCHEDULERS, help="sequential is always run")
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--strategy", default="bayes")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("schedulers"))
    return parser.parse_args()


def output_of(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
    return done.stdout


def tune(options, model, scheduler, seed):
    """Tunes unless that was done before; what `bayloom report` says of the session."""
    database = options.out / f"{model.stem}-{scheduler}-{seed}.db"
    done = database.with_suffix(".done")
    if not done.exists():
        shown = output_of([
            options.bayloom, "tune", model, "--trials", options.trials, "--seed", seed,
            "--scheduler", scheduler, "--strategy", options.strategy,
            "--threads", options.threads, "--db", database, "--resume", "--json"])
        done.write_text(shown)
    (report,) = json.loads(output_of([options.bayloom, "report", database, "--json"]))
    return report


def reaching(report, latency):
    """The first [trials, seconds, latency] at or below the latency, within the tolerance."""
    for point in report["latency_after"]:
        if point[2] is not None and point[2] <= latency * TOLERANCE:
            return point
    return None


def compare(report, sequential):
    lowest = sequential["latency"]
    before, now = reaching(sequential, lowest), reaching(report, lowest)
    phases = report["phases"]
    return {
        "latency": report["latency"],
        "latency_ratio": report["latency"] / lowest,
        "seconds": report["seconds"],
        "sooner_in_trials": before[0] / now[0] if now else None,
        "sooner_in_seconds": before[1] / now[1] if now else None,
        "scheduler_share": phases["schedule"] / sum(phases.values()),
    }


def middle(rows, key, missing=0.0):
    return statistics.median(missing if row[key] is None else row[key] for row in rows)


def main():
    options = arguments()
    options.out.mkdir(parents=True, exist_ok=True)
    schedulers = [name for name in options.schedulers.split(",") if name != "sequential"]
    results = []
    print(f"{'network':<16} {'scheduler':<20} {'latency':>10} {'/ seq.':>7} "
          f"{'sooner, trials':>15} {'seconds':>8} {'own time':>9}")
    for model in options.models:
        rows = {name: [] for name in ["sequential"] + schedulers}
        for seed in range(1, options.seeds + 1):
            sequential = tune(options, model, "sequential", seed)
            rows["sequential"].append(compare(sequential, sequential))
            for name in schedulers:
                rows[name].append(compare(tune(options, model, name, seed), sequential))
        for name, runs in rows.items():
            print(f"{model.stem:<16} {name:<20} {1e3 * middle(runs, 'latency'):>7.3f} ms "
                  f"{middle(runs, 'latency_ratio'):>7.3f} {middle(runs, 'sooner_in_trials'):>14.2f}x "
                  f"{middle(runs, 'sooner_in_seconds'):>7.2f}x "
                  f"{100 * middle(runs, 'scheduler_share'):>7.2f} %", flush=True)
            results.append({"network": model.stem, "scheduler": name, "runs": runs})
    (options.out / "schedulers.json").write_text(json.dumps(results, indent=1) + "\n")
    output_of([options.bayloom, "report", *sorted(options.out.glob("*.db")),
               "--out", options.out / "charts"])
    print(f"0.00x: sequential's latency was not reached. Charts in {options.out / 'charts'}.")


if __name__ == "__main__":
    main()

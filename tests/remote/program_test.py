#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""`bayloom worker`, and the commands that have workers try their candidates.

    tests/remote/program_test.py PROGRAM
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = None
PATIENCE = 60

SCENARIO = """
parameters:
  x: {type: integer, range: [1, 40]}
  y: {type: categorical, values: [a, b]}
constraints: [x != 13]
minimize: seconds
evaluator: {shell: "test {x} != 7 && echo {x}"}
optimizer: random
"""

DESIGN_SPACE = """
parameters:
  lanes: {type: ordinal, values: [2, 4, 8, 16], default: 4}
  words: {type: ordinal, values: [256, 1024, 4096], default: 1024}
constraints: [lanes <= 8 or words > 256]
architecture:
  arithmetic: {instances: $(lanes), word-bits: 8}
  storage:
  - {name: Registers, entries: 8, instances: $(lanes), word-bits: 8}
  - {name: Buffer, entries: $(words), word-bits: 8}
  - {name: DRAM, technology: DRAM, word-bits: 8, block-size: 8, read_bandwidth: 4}
"""


def children(pid):
    """Processes below this one, all generations."""
    below = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            below.setdefault(int(fields[1]), []).append(int(entry.name))
    found, rest = [], [pid]
    while rest:
        direct = below.get(rest.pop(), [])
        found += direct
        rest += direct
    return found


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class WorkersTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        self.worker = f"{PROGRAM} worker --threads 1"
        (self.path / "scenario.yaml").write_text(SCENARIO)

    def tearDown(self):
        self.folder.cleanup()

    def run_program(self, *arguments, code=0, text=""):
        done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, cwd=self.path,
                              input=text, timeout=600)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def talk(self, *lines):
        """What a worker says to these lines, without its signs of life."""
        said = [json.loads(line) for line in self.run_program(
            "worker", "--threads", "1", text="".join(line + "\n" for line in lines)
        ).stdout.splitlines()]
        return [each for each in said if "alive" not in each]

    def trials(self, database):
        text = self.run_program("records", "export", database).stdout
        lines = [json.loads(line) for line in text.splitlines()]
        return [line for line in lines if line["type"] in ("trial", "search_trial")]

    def test_a_worker_greets_and_ends_with_its_input(self):
        hello, = self.talk()
        self.assertEqual(hello["hello"], "bayloom-worker")
        self.assertEqual(hello["protocol"], 1)
        self.assertEqual(hello["target"]["cores"], 1)

    def test_nonsense_is_answered_by_one_line_and_changes_nothing(self):
        nonsense = ["", "{", "[]", "7", "nonsense", '{"subject": 1}', '{"subject": -1}',
                    '{"subject": 1, "definition": {"kind": "secret"}}',
                    '{"subject": 1, "definition": {"kind": "program", "target": 3}}',
                    '{"subject": 1, "definition": {"kind": "mapping"}}',
                    '{"subject": 1, "definition": {"kind": "scenario", "text": "a: ["}}',
                    '{"subject": 1, "definition": {"kind": "scenario", "text": 3}}',
                    '{"lease": 3, "subject": 9, "candidate": {}}', "[" * 1000]
        answers = self.talk(*nonsense)[1:]
        self.assertEqual(len(answers), len(nonsense))
        for line, answer in zip(nonsense, answers):
            self.assertTrue("error" in answer or "lost" in answer, (line, answer))
            self.assertNotIn("\n", answer.get("error", answer.get("lost")))

    def test_a_worker_evaluates_configurations(self):
        worker = subprocess.Popen([PROGRAM, "worker"], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True, cwd=self.path)
        definition = {"kind": "scenario", "text": SCENARIO, "folder": str(self.path), "name": "s"}
        for line in ({"subject": 1, "definition": definition},
                     {"lease": 1, "subject": 1, "candidate": {"x": 5, "y": "a"}}):
            worker.stdin.write(json.dumps(line) + "\n")
        worker.stdin.flush()
        said = []
        while not said or "lease" not in said[-1]:
            said.append(json.loads(worker.stdout.readline()))
        self.assertEqual(said[-1]["outcome"]["value"], 5)
        for lease, x in ((2, 7), (3, 13), (4, 99)):
            worker.stdin.write(json.dumps(
                {"lease": lease, "subject": 1, "candidate": {"x": x, "y": "a"}}) + "\n")
            worker.stdin.flush()
            while said[-1].get("lease") != lease:
                said.append(json.loads(worker.stdout.readline()))
        by_lease = {each["lease"]: each for each in said if "lease" in each}
        self.assertEqual(by_lease[2]["outcome"]["verdict"], "crash")
        self.assertIn("constraints", by_lease[3]["lost"])
        self.assertIn("x", by_lease[4]["lost"])
        worker.stdin.close()
        self.assertEqual(worker.wait(PATIENCE), 0)
        worker.stdout.close()

    def test_a_search_is_the_same_by_a_worker(self):
        for name, more in (("here", []), ("there", ["--workers", self.worker])):
            self.run_program("search", "scenario.yaml", "--trials", "30", "--seed", "3", "--db",
                             name + ".db", *more)
        keys = ("configuration", "verdict", "value", "reason")
        here, there = ([{key: trial[key] for key in keys} for trial in self.trials(name)]
                       for name in ("here.db", "there.db"))
        self.assertEqual(len(here), 30)
        self.assertEqual(here, there)

    def test_workers_evaluate_at_several_fidelities(self):
        text = SCENARIO.replace("test {x} != 7 && echo {x}", "echo $(({x} * {size}))")
        (self.path / "sizes.yaml").write_text(
            text.replace("optimizer: random", "known: [{x: 20, y: a}]\n"
                         "fidelity: {parameter: size, values: [1, 10, 100]}"))
        arguments = ["search", "sizes.yaml", "--db", "sizes.db", "--workers", self.worker,
                     "--workers", self.worker]
        self.run_program(*arguments, "--trials", "20")
        self.run_program(*arguments, "--trials", "40", "--resume")
        trials = self.trials("sizes.db")
        tried = [trial["configuration"] for trial in trials]
        self.assertEqual(len({json.dumps(each, sort_keys=True) for each in tried}), 40)
        self.assertEqual({each["size"] for each in tried}, {1, 10, 100})
        self.assertIn({"x": 20, "y": "a", "size": 100}, tried)
        for each, trial in zip(tried, trials):
            self.assertEqual(trial["value"], each["x"] * each["size"])

    def test_two_workers_share_a_search(self):
        self.run_program("search", "scenario.yaml", "--trials", "60", "--db", "two.db",
                         "--workers", self.worker, "--workers", self.worker)
        configurations = [json.dumps(trial["configuration"]) for trial in self.trials("two.db")]
        self.assertEqual(len(configurations), 60)
        self.assertEqual(len(set(configurations)), 60)

    def test_workers_evaluate_mappings(self):
        arguments = ["map", "--op", "matmul:64,64,64", "--arch", "gemmini", "--mapper", "random",
                     "--evaluations", "40", "--seed", "1", "--json"]
        here = json.loads(self.run_program(*arguments).stdout)
        there = json.loads(self.run_program(*arguments, "--workers", self.worker).stdout)
        self.assertEqual(here["mapping"], there["mapping"])
        self.assertEqual(here["value"], there["value"])

    def test_workers_evaluate_several_objectives(self):
        arguments = ["map", "--op", "matmul:64,64,64", "--arch", "gemmini", "--mapper", "random",
                     "--objective", "energy,delay", "--evaluations", "60", "--seed", "1", "--json"]
        here = json.loads(self.run_program(*arguments).stdout)
        there = json.loads(self.run_program(*arguments, "--workers", self.worker).stdout)
        self.assertTrue(here["front"])
        self.assertEqual(here["front"], there["front"])
        done = self.run_program(*arguments, "--evaluator", "simulate {mapping}", "--workers",
                                self.worker, code=2)
        self.assertIn("a simulator answers one value", done.stderr)

    def test_workers_evaluate_designs(self):
        (self.path / "chip.yaml").write_text(DESIGN_SPACE)
        arguments = ["design", "chip.yaml", "--op", "matmul:32,32,32", "matmul:16,64,8", "--trials",
                     "10", "--evaluations", "50", "--objective", "edp,area", "--budget",
                     "cycles=1e9", "--json"]
        here = json.loads(self.run_program(*arguments, "--db", "here.db").stdout)
        there = json.loads(self.run_program(*arguments, "--db", "there.db", "--workers",
                                            self.worker).stdout)
        self.assertGreater(len(here["front"]), 1)
        for key in ("designs", "front", "best"):
            self.assertEqual(here[key], there[key])
        two = json.loads(self.run_program(
            *arguments, "--db", "two.db", "--workers", self.worker, "--workers",
            self.worker + " --jobs 2").stdout)
        self.assertEqual(two["trials"], 10)
        done = self.run_program(*arguments, "--jobs", "2", "--workers", self.worker, code=2)
        self.assertIn("bayloom worker --jobs N", done.stderr)

    def test_a_worker_on_a_busy_machine_says_so(self):
        (self.path / "pausing.yaml").write_text(SCENARIO.replace("&&", "&& sleep 0.1 &&"))
        others = [subprocess.Popen(["sh", "-c", "while :; do :; done"])
                  for _ in os.sched_getaffinity(0)]
        try:
            done = self.run_program("search", "pausing.yaml", "--trials", "20", "--workers",
                                    self.worker)
        finally:
            for other in others:
                other.kill()
                other.wait()
        notes = [line for line in done.stderr.splitlines() if "the machine is busy" in line]
        self.assertEqual(len(notes), 1, done.stderr)
        self.assertIn("worker '", notes[0])

    def test_a_command_that_is_not_there_ends_the_search_as_it_does_here(self):
        (self.path / "missing.yaml").write_text(SCENARIO.replace("test {x}", "no-such-command {x}"))
        for name, more in (("here", []), ("there", ["--workers", self.worker])):
            done = self.run_program("search", "missing.yaml", "--trials", "30", "--db",
                                    name + ".db", *more, code=2)
            self.assertIn("the evaluator cannot be run", done.stderr)
            self.assertLess(len(self.trials(name + ".db")), 4)

    def test_a_search_refuses_what_workers_do_not_know(self):
        (self.path / "limited.yaml").write_text(
            SCENARIO.replace('echo {x}"}', 'echo {x}", timeout: 3x best}'))
        done = self.run_program("search", "limited.yaml", "--workers", self.worker, code=2)
        self.assertIn("a multiple of the best's time", done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)
        (self.path / "space.json").write_text("{}")
        done = self.run_program("search", "scenario.yaml", "--recorded", "space.json", "--workers",
                                self.worker, code=2)
        self.assertIn("--recorded: values are looked up here; leave out --workers", done.stderr)

    def test_an_interruption_while_workers_start_is_no_bad_input(self):
        tuner = subprocess.Popen([PROGRAM, "search", "scenario.yaml", "--db", "stopped.db",
                                  "--workers", "touch started; sleep 600"], cwd=self.path,
                                 stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + PATIENCE
        while not (self.path / "started").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        tuner.send_signal(signal.SIGINT)
        self.assertEqual(tuner.wait(PATIENCE), 130)

    def test_workers_tune(self):
        arguments = ["tune", "--op", "matmul:64,64,64", "--db", "op.db", "--seed", "1", "--json",
                     "--workers", self.worker, "--workers", self.worker]
        first = json.loads(self.run_program(*arguments, "--trials", "24").stdout)
        self.assertEqual(first["trials"], 24)
        self.assertGreater(first["total"], 0)
        second = json.loads(self.run_program(*arguments, "--trials", "40", "--resume").stdout)
        self.assertEqual(second["trials"], 40)
        trials = self.trials("op.db")
        self.assertEqual(len({trial["program"] for trial in trials}), 40)
        self.assertGreater(sum(trial["verdict"] == "ok" for trial in trials), 30)
        self.assertGreater(second["gain"]["compared_tasks"], 0)  # the default program was sent, too

    def test_options_of_the_machine_are_the_workers(self):
        for option in (["--threads", "2"], ["--sandbox"]):
            done = self.run_program("tune", "--op", "matmul:8,8,8", *option, "--workers",
                                    self.worker, code=2)
            self.assertIn("say it to each worker", done.stderr)
        done = self.run_program("tune", "--op", "matmul:8,8,8", "--workers", "exit 3", code=2)
        self.assertIn("exit code 3", done.stderr)

    def test_nothing_outlives_a_tuner_that_is_killed(self):
        (self.path / "slow.yaml").write_text(SCENARIO.replace("echo {x}", "sleep 600"))
        for end in (signal.SIGKILL, signal.SIGINT):
            tuner = subprocess.Popen(
                [PROGRAM, "search", "slow.yaml", "--db", f"{end}.db", "--workers", self.worker,
                 "--workers", self.worker], cwd=self.path, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL)
            deadline = time.monotonic() + PATIENCE
            names = []
            while names.count("sleep") < 2 and time.monotonic() < deadline:
                time.sleep(0.05)
                below = children(tuner.pid)
                names = []
                for pid in below:
                    try:
                        names.append(pathlib.Path(f"/proc/{pid}/comm").read_text().strip())
                    except OSError:
                        pass
            self.assertEqual(names.count("sleep"), 2, names)
            os.kill(tuner.pid, end)
            tuner.wait(PATIENCE)
            while any(map(is_alive, below)) and time.monotonic() < deadline + PATIENCE:
                time.sleep(0.05)
            self.assertFalse([pid for pid in below if is_alive(pid)])


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    os.environ["BAYLOOM_STORE"] = "off"
    unittest.main()

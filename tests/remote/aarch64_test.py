#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""`bayloom tune` with a worker of another architecture, which an emulator runs.

    tests/remote/aarch64_test.py PROGRAM WORKER EMULATOR...

WORKER is bayloom-worker for AArch64, EMULATOR what runs it: qemu-aarch64 -L /usr/aarch64-linux-gnu.
"""

import json
import os
import pathlib
import shlex
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = None
WORKER = None
TARGET = ["--target", "aarch64-linux-gnu", "--threads", "2"]
PATIENCE = 120


def field(number, content):
    """A field of a protobuf message: an integer, or bytes."""
    def varint(value):
        text = b""
        while value >= 0x80:
            text += bytes([value & 0x7F | 0x80])
            value >>= 7
        return text + bytes([value])
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    content = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(content)) + content


def tiny_network():
    """relu(x w) v in ONNX: x is 4x24, w 24x16, v 16x8."""
    def weights(name, rows, columns):
        values = struct.pack(f"<{rows * columns}f",
                             *((i * 7 % 13 - 6) / 13 for i in range(rows * columns)))
        return field(5, field(1, rows) + field(1, columns) + field(2, 1) + field(8, name)
                     + field(9, values))

    def node(operator, inputs, output):
        return field(1, b"".join(field(1, name) for name in inputs) + field(2, output)
                     + field(4, operator))

    def value(number, name, *shape):
        dims = b"".join(field(1, field(1, extent)) for extent in shape)
        return field(number, field(1, name) + field(2, field(1, field(1, 1) + field(2, dims))))

    graph = (node("MatMul", ["x", "w"], "h") + node("Relu", ["h"], "r")
             + node("MatMul", ["r", "v"], "y") + field(2, "tiny") + weights("w", 24, 16)
             + weights("v", 16, 8) + value(11, "x", 4, 24) + value(12, "y", 4, 8))
    return field(1, 7) + field(7, graph) + field(8, field(2, 13))


class OtherArchitectureTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        (self.path / "tiny.onnx").write_bytes(tiny_network())

    def tearDown(self):
        self.folder.cleanup()

    def run_program(self, *arguments, code=0):
        done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, cwd=self.path,
                              timeout=600)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def records(self, database, kind):
        text = self.run_program("records", "export", database).stdout
        return [line for line in map(json.loads, text.splitlines()) if line["type"] == kind]

    def talk(self, *lines):
        """What a worker says: a greeting, and an answer to each line before its input ends."""
        with subprocess.Popen(WORKER, shell=True, text=True, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as worker:
            worker.stdin.write("".join(json.dumps(line) + "\n" for line in lines))
            worker.stdin.flush()
            said = []
            while len(said) < 1 + len(lines):
                line = json.loads(worker.stdout.readline())
                if "alive" not in line:
                    said.append(line)
            worker.stdin.close()
        return said

    def test_the_worker_says_what_it_is(self):
        hello, = self.talk()
        self.assertIs(hello["compiles"], False)
        self.assertTrue(hello["target"]["triple"].startswith("aarch64-emulated-linux"))
        for definition in ({"kind": "scenario", "text": ""}, {"kind": "kernel"}, 3):
            hello, answer = self.talk({"subject": 1, "definition": definition})
            self.assertIn("error", answer)
        hello, answer = self.talk({"measure": "machine"})
        self.assertIn("no compiler", answer["error"])

    def test_a_network_is_tuned(self):
        arguments = ["tune", "tiny.onnx", *TARGET, "--seed", "1", "--workers", WORKER]
        done = self.run_program(*arguments, "--trials", "12", "--json")
        self.assertIn("An emulator ran the programs", done.stderr)
        result = json.loads(done.stdout)
        self.assertEqual(result["trials"], 12)
        self.assertIs(result["emulated"], True)
        self.assertGreater(result["total"], 0)
        trials = self.records("tiny.db", "trial")
        self.assertEqual(len({trial["program"] for trial in trials}), 12)
        right = [trial for trial in trials if trial["verdict"] == "ok"]
        self.assertGreater(len(right), 8, trials)
        for target in self.records("tiny.db", "target"):
            self.assertIn("-emulated-", json.dumps(target))
        # The next run goes on, and what is compiled for real machines knows nothing of it.
        done = self.run_program(*arguments, "--trials", "16", "--resume", "--json")
        self.assertEqual(json.loads(done.stdout)["trials"], 16)
        done = self.run_program("compile", "tiny.onnx", *TARGET, "--db", "tiny.db", "--out", "lib",
                                "--json")
        self.assertEqual([v["tuned_tasks"] for v in json.loads(done.stdout)["variants"]], [0])

    def test_outcomes_say_that_they_are_no_times(self):
        done = self.run_program("tune", "--op", "matmul:8,16,8", *TARGET, "--trials", "4", "--db",
                                "op.db", "--workers", WORKER)
        for claim in ("gain:", "is expected to gain", "bayloom compile", "bayloom bench"):
            self.assertNotIn(claim, done.stdout)
        trials = self.records("op.db", "trial")
        self.assertEqual([trial["details"].get("emulated") for trial in trials], [1] * 4)

    def test_a_worker_that_is_killed_costs_no_trial(self):
        command = f"echo $$ >> {shlex.quote(str(self.path))}/started; exec {WORKER}"
        tuner = subprocess.Popen(
            [PROGRAM, "tune", "tiny.onnx", *TARGET, "--trials", "40", "--seed", "1", "--json",
             "--workers", command], cwd=self.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True)
        started = self.path / "started"
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline and not (
                (self.path / "tiny.db").exists() and self.is_under_way()):
            time.sleep(0.05)
        os.kill(int(started.read_text().split()[0]), signal.SIGKILL)
        output, complaint = tuner.communicate(timeout=PATIENCE)
        self.assertEqual(tuner.returncode, 0, complaint)
        self.assertIn("it is started again", complaint)
        self.assertEqual(json.loads(output)["trials"], 40)
        self.assertEqual(len(started.read_text().split()), 2)
        self.assertEqual(len({t["program"] for t in self.records("tiny.db", "trial")}), 40)

    def is_under_way(self):
        try:
            return len(self.records("tiny.db", "trial")) > 0
        except AssertionError:  # its tables are not there yet
            return False

    def test_what_does_not_fit_is_one_line(self):
        for arguments, what in (
                ([], "say aarch64-linux-gnu[:PROCESSOR]"),
                (["--target", "x86-64-v3"], "the workers' processor is aarch64"),
                (["--target", "cuda:sm_80"], "the workers' processor is aarch64"),
                (["--target", "aarch64-linux-gnu", "--threads", "4096"], "the workers' machine has"),
                (["--target", "aarch64-linux-gnu", "--sandbox"], "say it to each worker")):
            done = self.run_program("tune", "--op", "matmul:8,8,8", *arguments, "--workers", WORKER,
                                    code=2)
            self.assertIn(what, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 2, done.stderr)  # and "1 of 1 worker"

    def test_a_processor_without_a_feature_is_refused(self):
        emulator = WORKER.replace("qemu-aarch64", "qemu-aarch64 -cpu cortex-a57", 1)
        done = self.run_program("tune", "--op", "matmul:8,8,8", "--target",
                                "aarch64-linux-gnu:neoverse-v1", "--workers", emulator, code=2)
        self.assertIn("the workers' processor has no ", done.stderr)

    def test_other_searches_are_refused_with_a_reason(self):
        (self.path / "s.yaml").write_text(
            "parameters: {x: {type: integer, range: [1, 9]}}\nevaluator: {shell: 'echo {x}'}\n")
        done = self.run_program("search", "s.yaml", "--trials", "3", "--workers", WORKER, code=1)
        self.assertIn("tries compiled programs only", done.stderr)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv[1])
    WORKER = shlex.join(sys.argv[3:] + [os.path.abspath(sys.argv[2])])
    os.environ["BAYLOOM_STORE"] = "off"
    unittest.main(argv=sys.argv[:1])

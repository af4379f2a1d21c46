#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""The commands that write and serve the report page, without a browser.

    tests/page/program_test.py PROGRAM
"""

import base64
import hashlib
import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

PROGRAM = None


class ProgramTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.database = str(pathlib.Path(self.folder.name) / "a.db")
        empty = pathlib.Path(self.folder.name) / "a.jsonl"
        empty.write_text('{"format":"bayloom-records","type":"header","version":1}\n')
        self.run_program("records", "import", self.database, str(empty))

    def tearDown(self):
        self.folder.cleanup()

    def run_program(self, *arguments, code=0):
        done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def begin_board(self):
        board = subprocess.Popen([PROGRAM, "board", self.database, "--port", "0"], text=True,
                                 stdout=subprocess.PIPE)
        return board, re.search(r"http://127\.0\.0\.1:(\d+)/", board.stdout.readline())

    def test_the_policy_names_script_and_styles(self):
        """With other hashes a browser would run nothing."""
        page = pathlib.Path(self.folder.name) / "a.html"
        self.run_program("report", self.database, "--html", str(page))
        text = page.read_bytes().decode()
        for tag in ("script", "style"):
            content = re.search(rf"<{tag}>(.*?)</{tag}>", text, re.S)[1]
            digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
            self.assertIn(f"{tag}-src 'sha256-{digest}'", text)

    def test_a_page_is_of_one_database_and_excludes_other_outputs(self):
        for more in ([self.database], ["--json"], ["--out", "charts"]):
            done = self.run_program("report", self.database, *more, "--html", "a.html", code=2)
            self.assertEqual(done.stderr.count("\n"), 1)

    def test_the_board_prints_its_address_answers_and_ends_on_ctrl_c(self):
        board, address = self.begin_board()
        with urllib.request.urlopen(address[0] + "data.json") as answer:
            self.assertEqual(json.load(answer)["runs"], [])
        begun = time.monotonic()
        board.send_signal(signal.SIGINT)
        self.assertEqual(board.wait(30), 130)
        board.stdout.close()
        print(f"Ctrl-C took {time.monotonic() - begun:.2f} s")

    def test_a_port_that_is_taken_is_bad_input(self):
        board, address = self.begin_board()
        done = self.run_program("board", self.database, "--port", address[1], code=2)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertIn(f"cannot listen on port {address[1]}", done.stderr)
        board.send_signal(signal.SIGTERM)
        self.assertEqual(board.wait(30), 143)
        board.stdout.close()

    def test_a_missing_database_is_waited_for_and_what_is_none_is_bad_input(self):
        board = subprocess.Popen([PROGRAM, "board", self.database + "x", "--port", "0"], text=True,
                                 stdout=subprocess.PIPE)
        self.assertIn("is not there yet and is waited for, at http://127.0.0.1:",
                      board.stdout.readline())
        board.send_signal(signal.SIGINT)
        self.assertEqual(board.wait(30), 130)
        board.stdout.close()
        done = self.run_program("board", __file__, "--port", "0", code=2)
        self.assertEqual(done.stderr.count("\n"), 1)


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()

#!/usr/bin/env python3
# SPDX-FileCopyrightText: The Bayloom authors
# SPDX-License-Identifier: Apache-2.0

"""The report page in a real browser.

    tests/page/browser_test.py PROGRAM                       tests; exit code 77 without a browser
    tests/page/browser_test.py --measure PAGE_OR_URL         times of a page
    tests/page/browser_test.py --screenshot PAGE PNG [HEIGHT [SCHEME]]
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from browser import Browser, find_browser  # noqa: E402

PROGRAM = None
HOSTILE = "</script><img src=x onerror=\"document.title='owned'\">\u202e&amp;'\x07"


class Search:
    """A search whose trials are told one by one, in a database that the program writes."""

    def __init__(self, folder):
        scenario = pathlib.Path(folder) / "<img src=x onerror=alert(1)>.yaml"
        scenario.write_text("parameters:\n"
                            "  tile: {type: integer, range: [1, 100000]}\n"
                            "  '<b onclick=alert(2)>': {type: categorical, values: ['</script>', b]}\n"
                            "minimize: seconds\n")
        self.database = pathlib.Path(folder) / "search.db"
        self.process = subprocess.Popen(
            [PROGRAM, "serve", str(scenario), "--db", str(self.database)], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.told = 0

    def tell(self, count):
        for _ in range(count):
            self.told += 1
            trial = {"tell": {"tile": self.told, "<b onclick=alert(2)>": "</script>"}}
            if self.told % 5 == 0:
                trial |= {"feasible": False, "reason": HOSTILE}
            else:
                trial |= {"value": 1000.0 - self.told % 97}
            self.process.stdin.write(json.dumps(trial) + "\n")
            self.process.stdin.flush()
            answer = json.loads(self.process.stdout.readline())
            assert "error" not in answer, answer

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.search = Search(cls.folder.name)
        cls.search.tell(200)
        cls.browser = Browser(find_browser()).__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        cls.search.close()
        cls.folder.cleanup()

    def page(self):
        path = pathlib.Path(self.folder.name) / "page.html"
        subprocess.run([PROGRAM, "report", str(self.search.database), "--html", str(path)],
                       check=True, stdout=subprocess.DEVNULL)
        return path

    def assert_is_unharmed(self):
        self.assertEqual(self.browser.errors, [])
        self.assertEqual(self.browser.evaluate("document.images.length"), 0)
        self.assertEqual(self.browser.evaluate("document.scripts.length"), 2)
        self.assertNotIn("owned", self.browser.evaluate("document.title"))

    def test_a_file_shows_everything_and_asks_for_nothing(self):
        page = self.page()
        self.browser.open(page.as_uri())
        self.assertIn(f"{self.search.told} trials", self.browser.evaluate("document.body.innerText"))
        self.assertIn("<img src=x onerror=alert(1)>", self.browser.evaluate("document.querySelector('h2').innerText"))
        self.assertEqual({url for url in self.browser.asked if not url.startswith("data:")},
                         {page.as_uri()})
        self.assert_is_unharmed()
        # The charts have been drawn: pixels of more than one color.
        self.browser.wait("""[...document.querySelectorAll('canvas')].length >= 2 &&
            [...document.querySelectorAll('canvas')].every(c => new Set(new Uint32Array(
                c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer)).size > 2)""")

    def test_trials_are_filtered_and_sorted(self):
        self.browser.open(self.page().as_uri())
        status = "document.querySelector('section[aria-label=Trials] [role=status]').innerText"
        first = """document.querySelector('section[aria-label=Trials] tbody tr')
            .innerText.split('\\t')[0].trim()"""
        self.assertEqual(self.browser.evaluate(status), f"1 to 50 of {self.search.told} trials")
        self.browser.evaluate("""{const s = document.querySelector('section[aria-label=Trials] select');
            s.value = [...s.options].find(o => !['all', 'ok'].includes(o.value)).value; s.dispatchEvent(new Event('change'));}""")
        failed = self.browser.evaluate(status)
        self.browser.evaluate("""{const s = document.querySelector('section[aria-label=Trials] select');
            s.value = 'all'; s.dispatchEvent(new Event('change'));}""")
        told = self.search.told
        all_failed = f"1 to {told // 5} of {told // 5} trials ({told} in all)"
        self.assertEqual(failed, all_failed)
        self.browser.evaluate("""[...document.querySelectorAll('section[aria-label=Trials] th button')]
            .find(b => b.innerText === 'seconds').click()""")
        self.assertEqual(self.browser.evaluate(first), "95")  # 1000 - 96, of trial 95 (from 0)
        self.browser.evaluate("""{const i = document.querySelector('input[type=search]');
            i.value = 'ONERROR'; i.dispatchEvent(new Event('input'));}""")
        self.assertEqual(self.browser.evaluate(status), all_failed)
        self.assert_is_unharmed()

    def test_it_follows_the_scheme_and_prints(self):
        self.browser.open(self.page().as_uri())
        colors = set()
        for scheme, media in (("light", ""), ("dark", ""), ("dark", "print")):
            self.browser.prefer(scheme, media)
            colors.add(self.browser.evaluate("getComputedStyle(document.body).backgroundColor"))
        self.browser.prefer("light")
        self.assertEqual(len(colors), 2)  # printed on white
        self.assert_is_unharmed()

    def test_the_board_shows_trials_as_they_come(self):
        board = subprocess.Popen([PROGRAM, "board", str(self.search.database), "--port", "0"],
                                 stdout=subprocess.PIPE, text=True)
        try:
            url = re.search(r"http://\S+/", board.stdout.readline())[0]
            self.browser.open(url)
            self.browser.wait("document.querySelector('.state').innerText.startsWith('live')")
            for _ in range(3):
                self.search.tell(10)
                self.browser.wait(f"document.body.innerText.includes(' {self.search.told} trials')")
            trials = self.browser.evaluate("""[...database.trials.values()][0].ordinal.data
                .slice(0, [...database.trials.values()][0].count).join()""")
            self.assertEqual(trials, ",".join(str(i) for i in range(self.search.told)))
            self.assertTrue(all(asked.startswith((url, "data:")) for asked in self.browser.asked))
            self.assert_is_unharmed()
        finally:
            self.browser.call("Page.navigate", url="about:blank")
            begun = time.monotonic()
            board.send_signal(2)
            board.wait(30)
            board.stdout.close()
        self.assertEqual(board.returncode, 130)
        print(f"Ctrl-C took {time.monotonic() - begun:.2f} s")


FRAME_SECONDS = 10


def frames(browser, act):
    """Frames a second, and the longest time between two in ms, while `act(n)` is called 50 times a
    second with its number."""
    browser.evaluate("""{window.frames_seen = []; const step = time => {
        window.frames_seen.push(time); window.frame_request = requestAnimationFrame(step)};
        window.frame_request = requestAnimationFrame(step); 0}""")
    begun = time.monotonic()
    for n in range(50 * FRAME_SECONDS):
        act(n)
        time.sleep(max(0, begun + (n + 1) / 50 - time.monotonic()))
        if time.monotonic() > begun + FRAME_SECONDS:
            break
    seen = browser.evaluate("cancelAnimationFrame(window.frame_request), window.frames_seen")
    gaps = [after - before for before, after in zip(seen, seen[1:])]
    return 1000 * len(gaps) / sum(gaps), max(gaps)


def measure_frames(browser):
    """While nothing is done, the pointer moves over the chart of convergence, and the page scrolls."""
    chart = browser.evaluate("""{document.querySelector('canvas').scrollIntoView();
        const r = document.querySelector('canvas').getBoundingClientRect();
        [r.left, r.top, r.width, r.height]}""")

    def point(n):
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", y=chart[1] + chart[3] / 2,
                     x=chart[0] + chart[2] * (n % 100) / 100)

    def scroll(n):
        browser.evaluate(f"scrollTo(0, {20 * n} % Math.max(1, document.body.scrollHeight - innerHeight))")

    for name, act in (("at rest", lambda n: None), ("pointer", point), ("scrolling", scroll)):
        rate, longest = frames(browser, act)
        print(f"{name}: {rate:.0f} frames/s, the longest took {longest:.0f} ms")


def measure(page):
    """First paint, the time of a whole redraw of its charts, memory of the page's script, and frames."""
    url = page if page.startswith("http") else pathlib.Path(page).resolve().as_uri()
    paints, draws, tables = [], [], []
    with Browser(find_browser()) as browser:
        for _ in range(5):
            browser.open(url)
            browser.wait("performance.getEntriesByName('first-contentful-paint').length")
            paints.append(browser.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
            browser.wait("document.querySelector('canvas')?.width > 300")
            draws.append(browser.evaluate("""{const t = performance.now();
                for (let i = 0; i < 5; ++i) view.parts.get('convergence').plot.paint();
                (performance.now() - t) / 5}"""))
            tables.append(browser.evaluate("""{const t = performance.now();
                view.parts.get('trials').sort = {name: 'time', ascending: false};
                view.parts.get('trials').update(); performance.now() - t}"""))
        heap = browser.call("Runtime.getHeapUsage")["usedSize"]
        measure_frames(browser)
    median = lambda values: sorted(values)[len(values) // 2]
    print(f"first paint {median(paints):.0f} ms; a redraw of the convergence {median(draws):.1f} ms; "
          f"sorting all trials {median(tables):.0f} ms; heap {heap / 1e6:.0f} MB")


def main():
    global PROGRAM
    if find_browser() is None:
        print("skipped: no Chromium; BAYLOOM_TEST_BROWSER names one")
        sys.exit(77)
    if sys.argv[1] == "--measure":
        return measure(sys.argv[2])
    if sys.argv[1] == "--screenshot":
        with Browser(find_browser()) as browser:
            browser.prefer(sys.argv[5] if len(sys.argv) > 5 else "light")
            url = sys.argv[2]
            browser.open(url if url.startswith("http") else pathlib.Path(url).resolve().as_uri())
            return browser.screenshot(sys.argv[3], int(sys.argv[4]) if len(sys.argv) > 4 else None)
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()


if __name__ == "__main__":
    main()

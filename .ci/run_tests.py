"""Runs the tests of a build folder: one line each, what failed in full, and a total.

usage: run_tests.py BUILD [--suite NAME] [--exclude CASES] [--jobs N] [NAME or FILTER ...]

A NAME is a test's name in tests/meson.build (core, consumer, ...); every other word selects, in
the unit test programs, the cases with that text in their names.
"""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

DOCTEST = re.compile(r"\[doctest\] test cases:\s*\d+ \|\s*(\d+) passed \|\s*(\d+) failed")
SCRIPT = re.compile(r"^(\d+) passed, (\d+) failed$", re.MULTILINE)
NOTE = re.compile(r"^.*?(skipped: .*)$", re.MULTILINE)


RUNNING = set()  # processes, to be ended with this one


def run(build, test, arguments):
    """Output, exit code and seconds of one test; code None when it ran out of time."""
    start = time.monotonic()
    process = subprocess.Popen(
        test["cmd"] + arguments,
        cwd=test["workdir"] or build,  # as `meson test` does
        env={**os.environ, **test["env"]},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    RUNNING.add(process)
    try:
        output, _ = process.communicate(timeout=test["timeout"])
        code = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, code = process.communicate()[0], None
    RUNNING.discard(process)
    return output, code, time.monotonic() - start


def interrupted(*_):
    for process in list(RUNNING):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
    print("interrupted", flush=True)
    os._exit(130)


def count(output, code):
    """Cases passed and failed. A program that died without a word about it is one failure."""
    found = DOCTEST.findall(output) + SCRIPT.findall(output)
    passed = sum(int(p) for p, _ in found)
    failed = sum(int(f) for _, f in found)
    if code != 0 and failed == 0:
        failed = 1
    return passed, failed


def start(options, chosen):
    """Each test and its future result: first those that may run side by side, the longest before
    the others so that none is left over at the end, then those that want the machine alone."""
    chosen.sort(key=lambda entry: (not entry[0]["is_parallel"], -entry[0]["priority"]))
    for jobs, together in (options.jobs, True), (1, False):
        with ThreadPoolExecutor(jobs) as pool:
            yield from [(test, pool.submit(run, options.build, test, arguments))
                        for test, _, arguments in chosen if test["is_parallel"] == together]


def main():
    parser = argparse.ArgumentParser(usage="tests/run [NAME or TEXT ...]; see tests/run --help")
    parser.add_argument("build")
    parser.add_argument("--suite")
    parser.add_argument("--exclude", default="")
    parser.add_argument("--jobs", type=int, default=2)  # tests at a time
    parser.add_argument("words", nargs="*")
    options = parser.parse_intermixed_args()

    with open(os.path.join(options.build, "meson-info", "intro-tests.json")) as file:
        tests = json.load(file)
    names = {test["name"] for test in tests}
    filters = [word for word in options.words if word not in names]
    chosen = []
    for test in tests:
        unit = any(suite.endswith(":unit") for suite in test["suite"])
        if options.suite and not any(s.endswith(":" + options.suite) for s in test["suite"]):
            continue
        if not options.words or test["name"] in options.words:
            chosen.append((test, unit, []))
        elif filters and unit:
            chosen.append((test, unit, ["--test-case=" + ",".join(f"*{f}*" for f in filters)]))

    for _, unit, arguments in chosen:
        if unit and options.exclude:
            arguments.append("--test-case-exclude=" + options.exclude)

    signal.signal(signal.SIGINT, interrupted)
    passed = failed = 0
    unhappy = []
    for test, started in start(options, chosen):
        print(f"{test['name']:<20}", end="", flush=True)
        output, code, seconds = started.result()
        p, f = count(output, code)
        passed += p
        failed += f
        print(f"{p:5} passed {f:5} failed {seconds:8.1f} s", flush=True)
        if f:
            unhappy.append(test["name"])
            print(output)
            if code is None:
                print(f"{test['name']}: stopped after {test['timeout']} s")
            elif code < 0:
                print(f"{test['name']}: ended by {signal.Signals(-code).name}")
        else:
            for note in dict.fromkeys(NOTE.findall(output)):
                print(f"{'':20}  {note}")

    if passed + failed == 0:
        print(f"no test matches {' '.join(options.words)}; tests: {' '.join(sorted(names))}")
        failed = 1
    if unhappy:
        print(f"failed: {' '.join(unhappy)}")
    if "GRADZOO_COUNTS" in os.environ:  # .ci/run adds them up
        with open(os.environ["GRADZOO_COUNTS"], "w") as file:
            file.write(f"{passed} {failed}\n")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

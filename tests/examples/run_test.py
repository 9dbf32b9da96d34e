"""examples/run as a user meets it: what it lists, what it refuses, from any folder.

usage: run_test.py SOURCE
"""

import os
import subprocess
import sys

from cases import run_cases

RUN = os.path.join(os.path.abspath(sys.argv[1]), "examples", "run")


def run(*arguments):
    return subprocess.run([RUN, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=60, cwd="/")


def lists_examples():
    """--list names each example with a line about it"""
    process = run("--list")
    assert process.returncode == 0, process.stderr
    lines = dict(line.split(maxsplit=1) for line in process.stdout.splitlines())
    sources = [name[:-4] for name in os.listdir(os.path.dirname(RUN)) if name.endswith(".cpp")]
    assert sorted(lines) == sorted(sources), lines
    assert all(len(about) > 20 for about in lines.values()), lines


def unknown_example():
    """an example that does not exist is one line with those that do, exit code 2"""
    process = run("trian", "--steps", "3")
    assert process.returncode == 2, process.returncode
    assert process.stdout == "" and process.stderr.count("\n") == 1, process.stderr
    assert "'trian'" in process.stderr and "train" in process.stderr, process.stderr


def helps():
    """--help says how it is called"""
    process = run("--help")
    assert process.returncode == 0 and "--list" in process.stdout, process


if __name__ == "__main__":
    sys.exit(run_cases([lists_examples, unknown_example, helps]))

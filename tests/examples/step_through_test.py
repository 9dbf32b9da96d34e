"""step_through as a user meets it: lessons, all steps as text, DOT, mistakes.

usage: step_through_test.py PROGRAM
"""

import os
import re
import signal
import subprocess
import sys
import tempfile

from cases import run_cases

PROGRAM = sys.argv[1]


def run(*arguments, stdout=subprocess.PIPE):
    return subprocess.run([PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=stdout,
                          stderr=subprocess.PIPE, text=True, timeout=120)


def right(*arguments):
    process = run(*arguments)
    assert process.returncode == 0 and process.stderr == "", (process.returncode, process.stderr)
    return process.stdout


def lists_lessons():
    """--list has a line for each lesson, and each runs by number and by name"""
    rows = [line.split()[:2] for line in right("--list").splitlines()]
    assert len(rows) >= 4 and ["1", "expression"] in rows, rows
    for number, name in rows:
        assert right(number) == right(name) != "", (number, name)


def all_steps_as_text():
    """without a terminal all steps are printed, plain, at most 80 columns, with a verdict"""
    text = right()
    assert text == right("--plain", "1")
    assert max(map(len, text.splitlines())) <= 80 and "\033" not in text, text
    assert "step 1 of 15" in text and "step 15 of 15" in text, text
    assert "use 3 of 3, was 4, added 3, now 7" in text, text
    assert "every step is right" in text, text
    assert not re.search(r"\.\.\. +(right|WRONG)", right("10")), "numbers are cut"


def seeds_differ():
    """--seed draws other numbers, the same ones for the same seed"""
    assert right("neuron", "--seed", "1") == right("neuron")
    assert right("neuron", "--seed", "2") != right("neuron")


def writes_page():
    """--html writes a page, beside the graphs when both are wanted"""
    with tempfile.TemporaryDirectory() as folder:
        page, graphs = os.path.join(folder, "page.html"), os.path.join(folder, "graphs.dot")
        assert right("expression", "--html", page, "--dot", graphs) == ""
        with open(page, encoding="utf-8") as file:
            assert file.read().startswith("<!DOCTYPE html>")
        assert os.path.exists(graphs)
        for wrong in [os.path.join(folder, "no", "x.html"), folder]:
            process = run("expression", "--html", wrong)
            assert process.returncode == 1 and wrong in process.stderr, process.stderr
            assert process.stderr.count("\n") == 1, process.stderr


def writes_dot():
    """--dot writes a graph for each function, with values and gradients"""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "graphs.dot")
        assert right("expression", "--dot", path) == ""
        with open(path, encoding="utf-8") as file:
            text = file.read()
        assert text.count("digraph") == 2 and "grad -26" in text, text
        os.remove(path)
        for wrong in [os.path.join(folder, "no", "x.dot"), folder]:
            process = run("expression", "--dot", wrong)
            assert process.returncode == 1 and wrong in process.stderr, process.stderr
            assert process.stderr.count("\n") == 1 and os.listdir(folder) == [], process.stderr


def mistakes():
    """an unknown lesson is one line naming the nearest and exit code 2"""
    process = run("nueron")
    assert process.returncode == 2 and process.stdout == "", process
    assert process.stderr.count("\n") == 1 and "neuron" in process.stderr, process.stderr
    assert run("--seed", "x").returncode == 2
    assert run("1", "2").returncode == 2
    assert "LESSON" in right("--help")


def output_that_ends():
    """a reader that goes early is no error to speak of; output that cannot be written is one"""
    process = subprocess.Popen(
        [PROGRAM], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL))
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait(timeout=60) in (0, -signal.SIGPIPE), process.returncode
    process.stderr.close()
    with open("/dev/full", "w", encoding="utf-8") as full:
        process = run(stdout=full)
    assert process.returncode == 1 and process.stderr.count("\n") == 1, process.stderr
    process = subprocess.run(["sh", "-c", '"$0" >&-', PROGRAM], stdin=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True, timeout=60)
    assert process.returncode == 1 and process.stderr.count("\n") == 1, process.stderr


if __name__ == "__main__":
    sys.exit(run_cases([lists_lessons, all_steps_as_text, seeds_differ, writes_dot, writes_page,
                        mistakes, output_that_ends]))

"""compare as a user meets it: a table, the same as JSON, mistakes.

usage: compare_test.py PROGRAM
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time

from cases import run_cases

PROGRAM = sys.argv[1]
QUICK = ["--longest", "4", "--symbols", "4", "--steps", "200", "--every", "50"]


def run(*arguments):
    return subprocess.run([PROGRAM, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=300)


def table_and_json():
    """each model has a row in the table, in the order given, and a line of JSON that says the same"""
    models = ["gru:additive", "transformer", "rnn:none"]
    process = run(*QUICK, "--models", ",".join(models), "--json")
    assert process.returncode == 0, process.stderr
    lines = process.stdout.splitlines()
    rows = [json.loads(line) for line in lines if line.startswith("{")]
    assert [row["model"] for row in rows] == models
    shown = {line.split()[0]: line.split() for line in lines if line.split()[:1] and
             line.split()[0] in models}
    for row in rows:
        cells = shown[row["model"]]
        assert int(cells[1]) == row["parameters"]
        assert cells[2] == (str(row["steps_to_99"]) if row["steps_to_99"] else "never"), (cells, row)
        assert list(row["lengths"]) == ["2 to 4", "4", "5 to 9"], row
        exact = [f"{100 * part['exact_match']:.1f}" for part in row["lengths"].values()]
        assert cells[5::4] == exact, (cells, exact)
    assert rows[0]["steps_to_99"] > 0, rows[0]  # the easy task is learned with attention


def same_seed():
    """the same seed gives the same numbers, but for the clock"""
    def numbers():
        process = run(*QUICK, "--models", "gru:dot", "--json", "--steps", "60")
        row = json.loads(process.stdout.splitlines()[-1])
        return {key: value for key, value in row.items() if "second" not in key}
    assert numbers() == numbers()


def report():
    """--out leaves metrics and a page; where it cannot be written, the table is printed anyway"""
    quick = [*QUICK, "--steps", "30", "--every", "20", "--models", "rnn:none,gru:dot"]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run")
        process = run(*quick, "--out", path)
        assert process.returncode == 0, process.stderr
        assert sorted(os.listdir(path)) == ["metrics.jsonl", "report.html", "settings.cfg"]
        with open(path + "/metrics.jsonl", encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        for model in ["rnn:none", "gru:dot"]:
            own = [line for line in lines if line["model"] == model]
            assert [line["step"] for line in own if "loss" in line] == [10, 20, 30], own
            assert [line["step"] for line in own if "exact_match" in line] == [20], own
        with open(path + "/settings.cfg", encoding="utf-8") as file:
            assert "models = rnn:none,gru:dot\n" in file.read()
        again = run(*quick, "--out", path)
        assert again.returncode == 1 and path in again.stderr, again.stderr
        assert again.stderr.count("\n") == 1 and again.stdout == "", again
        other = os.path.join(folder, "other")
        os.makedirs(other + "/report.html")  # where a folder is, no file can be written
        broken = run(*quick, "--out", other)
        assert broken.returncode == 1 and "gru:dot" in broken.stdout, broken
        complaints = [line for line in broken.stderr.splitlines() if line.startswith("compare: ")]
        assert len(complaints) == 1 and other + "/report.html" in complaints[0], broken.stderr
        none = run(*quick, "--out", path + "/metrics.jsonl/below")
        assert none.returncode == 1 and "below" in none.stderr, none.stderr


def stopped():
    """stopped by Ctrl-C: the models that are done have their rows, on the page too; exit code 130"""
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen([PROGRAM, *QUICK, "--steps", "1000000", "--models", "rnn:none",
                                    "--out", folder + "/run"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        deadline = time.time() + 60
        while not (os.path.exists(folder + "/run/metrics.jsonl") and
                   os.path.getsize(folder + "/run/metrics.jsonl") > 0):
            assert time.time() < deadline and process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=60)[1]
        assert process.returncode == 130 and "stopped while rnn:none" in errors, errors
        assert os.path.isfile(folder + "/run/report.html")


def usage_errors():
    """a mistake in the call is one line that names it and what is allowed, exit code 2"""
    for arguments, words in [
        (["--models", "gnu"], ["gnu", "transformer, rnn"]),
        (["--models", "gru:dott"], ["dott", "none, dot"]),
        (["--models", "transformer:dot"], ["transformer:dot"]),
        (["--models", ""], ["--models"]),
        (["--models", "gru:dot,rnn:dot,gru:dot"], ["gru:dot", "twice"]),
        (["--steps", "0"], ["--steps", "from 1"]),
        (["--longest", "60"], ["60", "64"]),
        (["--task", "sorted"], ["sorted", "copy, reverse, sort, add"]),
    ]:
        process = run(*arguments)
        assert process.returncode == 2, (arguments, process.returncode, process.stderr)
        assert process.stderr.count("\n") == 1 and process.stdout == "", (arguments, process)
        assert all(word in process.stderr for word in words), (arguments, process.stderr)


if __name__ == "__main__":
    sys.exit(run_cases([table_and_json, same_seed, report, stopped, usage_errors]))

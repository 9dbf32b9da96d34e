"""compare as a user meets it: a table, the same as JSON, mistakes.

usage: compare_test.py PROGRAM
"""

import json
import subprocess
import sys

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


def usage_errors():
    """a mistake in the call is one line that names it and what is allowed, exit code 2"""
    for arguments, words in [
        (["--models", "gnu"], ["gnu", "transformer, rnn"]),
        (["--models", "gru:dott"], ["dott", "none, dot"]),
        (["--models", "transformer:dot"], ["transformer:dot"]),
        (["--models", ""], ["--models"]),
        (["--steps", "0"], ["--steps", "from 1"]),
        (["--longest", "60"], ["60", "64"]),
        (["--task", "sorted"], ["sorted", "copy, reverse, sort, add"]),
    ]:
        process = run(*arguments)
        assert process.returncode == 2, (arguments, process.returncode, process.stderr)
        assert process.stderr.count("\n") == 1 and process.stdout == "", (arguments, process)
        assert all(word in process.stderr for word in words), (arguments, process.stderr)


if __name__ == "__main__":
    sys.exit(run_cases([table_and_json, same_seed, usage_errors]))

"""train as a user meets it: results, repeatability, mistakes, interruption.

usage: train_test.py PROGRAM
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

from cases import run_cases

PROGRAM = sys.argv[1]
QUICK = ["--steps", "40", "--d-model", "16", "--d-ff", "16", "--longest", "6"]


def run(*arguments, env=None, stdout=subprocess.PIPE):
    return subprocess.run([PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=stdout,
                          stderr=subprocess.PIPE, text=True, timeout=300,
                          env={**os.environ, **(env or {})})


def result_of(process):
    """The JSON of a run that ended well, without what the clock decides."""
    assert process.returncode == 0, process.stderr
    result = json.loads(process.stdout.splitlines()[-1])
    del result["seconds"]
    return result


def json_ends_stdout():
    """--json ends stdout with one object of the promised keys"""
    process = run(*QUICK, "--json")
    result = json.loads(process.stdout.splitlines()[-1])
    assert set(result) == {"task", "model", "parameters", "steps", "seconds", "loss", "exact_match",
                           "token_accuracy", "seed", "threads"}, result
    assert result["steps"] == 40 and result["task"] == "reverse"


def same_seed_same_numbers():
    """the same seed gives the same numbers, for any number of threads; another seed others"""
    first = result_of(run(*QUICK, "--json", "--threads", "2"))
    again = result_of(run(*QUICK, "--json", "--threads", "2"))
    assert first == again, (first, again)
    alone = result_of(run(*QUICK, "--json", "--threads", "1"))
    assert {**alone, "threads": 2} == first, (first, alone)
    other = result_of(run(*QUICK, "--json", "--seed", "2"))
    assert other["loss"] != first["loss"]


def flags_have_two_forms():
    """a flag of the config can be set and unset, and makes a difference"""
    pre = result_of(run(*QUICK, "--json"))["parameters"]
    assert result_of(run(*QUICK, "--json", "--norm-first"))["parameters"] == pre
    post = result_of(run(*QUICK, "--json", "--no-norm-first"))["parameters"]
    assert pre - post == 2 * 2 * 16, (pre, post)  # two norms of d_model


def loss_falls():
    """training makes the loss smaller than that of guessing"""
    assert result_of(run(*QUICK, "--steps", "200", "--json"))["loss"] < 2.5


def usage_errors():
    """a mistake in the call is one line that names it and what is allowed, exit code 2"""
    for arguments, words in [
        (["--nosuch"], ["--nosuch", "--help"]),
        (["--lr"], ["--lr"]),
        (["--steps", "10x"], ["--steps", "10x", "whole number from 0"]),
        (["--steps", ""], ["--steps", "''"]),
        (["--steps", "9" * 26], ["--steps", "9" * 26]),
        (["--steps", "-1"], ["--steps", "-1", "from 0"]),
        (["--lr", "nan"], ["--lr", "nan", "from 0 to 10"]),
        (["--lr", "inf"], ["--lr", "inf"]),
        (["--lr", "1e999"], ["--lr", "1e999"]),
        (["--threads", "99999999999"], ["--threads", "99999999999"]),
        (["--task", "revers"], ["revers", "copy, reverse"]),
        (["--model", "rnn"], ["rnn", "transformer"]),
        (["--num-heads", "3"], ["num_heads 3", "d_model 64", "divide"]),
        (["--d-model", "0"], ["d_model", "0"]),
        (["--dropout", "1.5"], ["dropout", "1.5", "[0, 1)"]),
        (["--longest", "100"], ["100", "64", "--max-length"]),
    ]:
        process = run(*arguments)
        message = process.stderr
        assert process.returncode == 2, (arguments, process.returncode, message)
        assert message.startswith("train: ") and message.count("\n") == 1, (arguments, message)
        assert all(word in message for word in words), (arguments, message)
        assert process.stdout == "", (arguments, process.stdout)


def file_errors():
    """a file that cannot be used is one line that names it, exit code 1, before any training"""
    with tempfile.TemporaryDirectory() as folder:
        broken = os.path.join(folder, "broken.safetensors")
        with open(broken, "wb") as file:
            file.write(b"\xff" * 100)
        cut = os.path.join(folder, "cut.safetensors")
        process = run(*QUICK, "--steps", "1", "--save", cut)
        assert process.returncode == 0, process.stderr
        with open(cut, "rb+") as file:
            file.truncate(os.path.getsize(cut) - 5)
        for arguments in [["--load", os.path.join(folder, "missing")], ["--load", broken],
                          ["--load", cut], ["--load", folder], ["--load", ""],
                          ["--save", os.path.join(folder, "no", "such", "folder")],
                          ["--save", folder], ["--save", ""]]:
            process = run(*QUICK, *arguments)
            assert process.returncode == 1, (arguments, process.returncode, process.stderr)
            assert process.stderr.startswith("train: "), process.stderr
            assert process.stderr.count("\n") == 1, process.stderr
            assert arguments[1] in process.stderr, process.stderr


def saved_weights_come_back():
    """weights that were saved give the same answers when they are loaded; a wrong shape is refused"""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "weights.safetensors")
        saved = result_of(run(*QUICK, "--save", path, "--json"))
        loaded = result_of(run(*QUICK, "--steps", "0", "--load", path, "--json"))
        assert loaded["token_accuracy"] == saved["token_accuracy"]
        wrong = run(*QUICK, "--d-ff", "17", "--load", path)
        assert wrong.returncode == 1 and "linear1.weight" in wrong.stderr, wrong.stderr


def full_disk():
    """output that cannot be written is an error, not a success"""
    with open("/dev/full", "w") as full:
        process = run(*QUICK, "--steps", "1", stdout=full)
    assert process.returncode == 1, process.returncode
    assert "No space left on device" in process.stderr, process.stderr


def interrupt(number):
    process = subprocess.Popen([PROGRAM, "--steps", "1000000"], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.readline()  # the model is made: training begins
    time.sleep(0.5)
    process.send_signal(number)
    output, errors = process.communicate(timeout=60)
    return process.returncode, output, errors


def stops_politely():
    """Ctrl-C finishes the step and ends with exit code 130, SIGTERM with 143"""
    for number, code in [(signal.SIGINT, 130), (signal.SIGTERM, 143)]:
        returncode, _, errors = interrupt(number)
        assert returncode == code, (returncode, errors)
        assert re.search(r"stopped after step \d+", errors), errors


def threads_from_the_environment():
    """a thread count from the environment that makes no sense is not followed blindly"""
    for text in ["99999999999", "0", "-3", "two", ""]:
        process = run(*QUICK, "--steps", "1", "--json", env={"GRADZOO_NUM_THREADS": text})
        assert process.returncode == 0, process.stderr
        threads = json.loads(process.stdout.splitlines()[-1])["threads"]
        assert 1 <= threads <= 4 * os.cpu_count(), (text, threads)


def version_and_help():
    """--version names the BLAS and its kernels; --help lists the options; both exit 0"""
    version = run("--version")
    assert version.returncode == 0 and "OpenBLAS" in version.stdout, version.stdout
    assert "threads" in version.stdout, version.stdout
    for option in ["--task", "--steps", "--d-model", "--norm-first", "--json"]:
        assert option in run("--help").stdout, option


if __name__ == "__main__":
    sys.exit(run_cases([
        json_ends_stdout, same_seed_same_numbers, flags_have_two_forms, loss_falls,
        usage_errors, file_errors, saved_weights_come_back, full_disk, stops_politely,
        threads_from_the_environment, version_and_help
    ]))

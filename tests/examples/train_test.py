"""train as a user meets it: results, repeatability, mistakes, interruption.

usage: train_test.py PROGRAM
"""

import fcntl
import json
import os
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

from cases import open_terminal, run_cases

PROGRAM = sys.argv[1]
QUICK = ["--steps", "40", "--d-model", "16", "--d-ff", "16", "--longest", "6"]


def run(*arguments, env=None, stdout=subprocess.PIPE):
    return subprocess.run([PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=stdout,
                          stderr=subprocess.PIPE, text=True, timeout=300,
                          env={**os.environ, **(env or {})})


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="latin-1") as file:
        file.write(text)
    return path


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
    assert set(result) == {"data", "model", "parameters", "steps", "seconds", "loss", "valid_loss",
                           "exact_match", "token_accuracy", "exact_match_longest", "seed",
                           "threads"}, result
    assert result["steps"] == 40 and result["data"] == "reverse"


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
    """B01 to B05: a mistake in the call is one line that names it and what is allowed, exit code 2"""
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
        (["--model", "rn"], ["rn", "transformer, rnn"]),
        (["--hidden-size", "3"], ["--hidden-size"]),  # of other models
        (["--time", "10x"], ["--time", "10x", "90s"]),
        (["--time", "0"], ["--time"]),
        (["--epochs", "2"], ["--epochs", "--train"]),
        (["--train", "a"], ["--valid"]),
        (["--text", "a"], ["--text", "decoder_lm"]),
        (["--max-tokens", "100"], ["--max-tokens"]),
        (["--shortest", "9", "--longest", "8"], ["9", "8"]),
        (["--patience", "3"], ["--patience", "--valid-every"]),
        (["--keep-best"], ["--keep-best", "--out"]),
        (["--save-every", "3"], ["--save-every", "--out"]),
        (["--out", "a", "--resume", "b"], ["resume"]),
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
    """B06, B07, B10, B17: a file or folder that cannot be used is one line, exit code 1, before training"""
    with tempfile.TemporaryDirectory() as folder:
        text = write(folder, "a.txt", "not two columns\n")
        good = write(folder, "good.tsv", "a b\tb a\n")
        readonly = os.path.join(folder, "file", "below")
        write(folder, "file", "no folder")
        for arguments, words in [
            (["--train", folder + "/missing", "--valid", good], [folder + "/missing"]),
            (["--train", good, "--valid", folder], [folder]),
            (["--train", "", "--valid", good], ["must not be empty"]),
            (["--train", text, "--valid", good], [text + ":1: 1 columns"]),
            (["--train", good, "--train-target", text, "--valid", good, "--valid-target", good],
             []),
            (["--text", folder + "/missing", "--model", "decoder_lm"], ["missing"]),
            (["--text", text, "--model", "decoder_lm"], [text, "too few"]),
            (["--config", folder + "/none.cfg"], ["none.cfg"]),
            (["--config", write(folder, "a.cfg", "lr = 1\nwarm-steps = 3\n")],
             ["a.cfg:2", "warm-steps", "warmup-steps"]),
            (["--config", write(folder, "b.cfg", "lr = 1\nlr = 1\n")], ["b.cfg:2", "twice"]),
            (["--config", write(folder, "c.cfg", "lr = many\n")], ["c.cfg:1", "many"]),
            (["--out", readonly], [readonly]),
            (["--out", ""], ["--out"]),
            (["--resume", folder + "/none"], [folder + "/none"]),
        ]:
            process = run(*([] if "--resume" in arguments else QUICK), *arguments)
            if not words:
                assert process.returncode == 0, process.stderr
                continue
            assert process.returncode == 1, (arguments, process.returncode, process.stderr)
            assert process.stderr.startswith("train: "), process.stderr
            assert process.stderr.count("\n") == 1, process.stderr
            assert all(word in process.stderr for word in words), (arguments, process.stderr)


def command_line_wins():
    """a settings file sets options, and the command line wins over it"""
    with tempfile.TemporaryDirectory() as folder:
        path = write(folder, "a.cfg", "# small\nsteps = 3\nd_model = 8\nmodel = transformer\n")
        small = ["--d-ff", "16", "--longest", "6", "--json", "--config", path]
        by_file = result_of(run(*small))
        assert by_file["steps"] == 3
        assert result_of(run(*small, "--steps", "5"))["steps"] == 5
        by_hand = result_of(run("--d-model", "8", "--steps", "3", *small[:-2]))
        assert by_file == by_hand, (by_file, by_hand)
        other = write(folder, "b.cfg", "model = gru\nhidden-size = 8\nsteps = 2\nlongest = 4\n")
        assert result_of(run("--config", other, "--json"))["model"] == "gru"


def every_model_learns():
    """each model makes the loss smaller than that of guessing, on a task of its own"""
    for model in ["transformer", "rnn", "lstm", "gru", "decoder_lm", "encoder"]:
        result = result_of(run("--model", model, "--task", "copy", "--longest", "4", "--symbols", "4",
                               "--steps", "150", "--json"))
        assert result["loss"] < 1.0, (model, result)
        assert result["model"] == model, result


def tensors(path):
    """The bytes of each tensor of a checkpoint, by name."""
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(size))
        data = file.read()
    return {name: data[entry["data_offsets"][0]:entry["data_offsets"][1]]
            for name, entry in header.items() if name != "__metadata__"}


RESUMED = ["--steps", "24", "--longest", "6", "--dropout", "0.1", "--valid-every", "5",
           "--schedule", "plateau"]
MODELS = [["--model", "transformer", "--d-model", "16", "--d-ff", "16"],
          ["--model", "lstm", "--hidden-size", "8", "--optimizer", "sgd", "--momentum", "0.9"],
          ["--model", "decoder_lm", "--d-model", "16", "--optimizer", "adamw"]]


def resumes_bit_for_bit():
    """TRN2: a run stopped by kill -9 or SIGTERM and resumed ends with the same bits"""
    for model in MODELS:
        with tempfile.TemporaryDirectory() as folder:
            whole = os.path.join(folder, "whole")
            assert run(*model, *RESUMED, "--out", whole).returncode == 0
            want = tensors(whole + "/last.safetensors")
            for name, stop in [("killed", signal.SIGKILL), ("stopped", signal.SIGTERM)]:
                path = os.path.join(folder, name)
                process = subprocess.Popen([PROGRAM, *model, *RESUMED, "--out", path,
                                            "--save-every", "7"], stdin=subprocess.DEVNULL,
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                deadline = time.time() + 60
                while not os.path.exists(path + "/last.safetensors"):
                    assert time.time() < deadline and process.poll() in (None, 0)
                    time.sleep(0.001)
                process.send_signal(stop)
                process.wait(timeout=60)
                resumed = run("--resume", path)
                assert resumed.returncode == 0, resumed.stderr
                got = tensors(path + "/last.safetensors")
                assert got.keys() == want.keys()
                different = [key for key in want if got[key] != want[key]]
                assert not different, (model, name, different)
                assert (tensors(path + "/model.safetensors") ==
                        tensors(whole + "/model.safetensors")), (model, name)
                steps = [(line.get("step"), line.get("valid_loss")) for line in metrics(path)]
                assert steps == [(line.get("step"), line.get("valid_loss"))
                                 for line in metrics(whole)], steps


def metrics(folder):
    with open(folder + "/metrics.jsonl") as file:
        return [json.loads(line) for line in file]


def keeps_runs():
    """a run is never overwritten; a broken checkpoint is named and changes nothing"""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run")
        assert run(*QUICK, "--steps", "3", "--out", path).returncode == 0
        again = run(*QUICK, "--steps", "3", "--out", path)
        assert again.returncode == 1 and "--resume" in again.stderr, again.stderr
        changed = run("--resume", path, "--lr", "1")
        assert changed.returncode == 2 and "--lr" in changed.stderr, changed.stderr
        last = path + "/last.safetensors"
        for cut in [0, 5, 100, os.path.getsize(last) - 5]:
            with open(last, "rb+") as file:
                file.truncate(cut)
            broken = run("--resume", path)
            assert broken.returncode == 1 and last in broken.stderr, broken.stderr
            assert broken.stderr.count("\n") == 1, broken.stderr
            assert os.path.getsize(last) == cut


def longer_run():
    """a resumed run may be given more steps"""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run")
        assert run(*QUICK, "--steps", "3", "--out", path).returncode == 0
        assert result_of(run("--resume", path, "--steps", "6", "--json"))["steps"] == 6


def full_disk_while_saving():
    """TRN7, B08: a disk that fills up while saving leaves the checkpoint before as it was"""
    def small_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # as a full disk: the write fails
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run")
        assert run(*QUICK, "--steps", "3", "--out", path).returncode == 0
        before = {name: open(os.path.join(path, name), "rb").read() for name in os.listdir(path)}
        process = subprocess.run([PROGRAM, "--resume", path, "--steps", "6"], capture_output=True,
                                 text=True, preexec_fn=small_files, timeout=300)
        assert process.returncode == 1, process
        assert path + "/last.safetensors: " in process.stderr, process.stderr
        assert process.stderr.splitlines()[-1].startswith("train: "), process.stderr
        for name in ["last.safetensors", "model.safetensors", "settings.cfg"]:
            assert open(os.path.join(path, name), "rb").read() == before[name], name
        assert sorted(os.listdir(path)) == sorted(before), os.listdir(path)
        assert run("--resume", path).returncode == 0


def report():
    """--out leaves a page of the run; where it cannot be written, what was trained is there anyway"""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run")
        page = path + "/report.html"
        process = run(*QUICK, "--steps", "12", "--out", path)
        assert process.returncode == 0 and "Content-Security-Policy" in open(page).read(), process
        assert os.path.getsize(page) < 300_000, os.path.getsize(page)
        assert all("accuracy" in line for line in metrics(path) if "loss" in line), metrics(path)
        os.remove(page)
        os.mkdir(page)  # where a folder is, no file can be written
        process = run("--resume", path, "--steps", "24", "--json")
        assert process.returncode == 1, process.returncode
        assert json.loads(process.stdout.splitlines()[-1])["steps"] == 24
        complaints = [line for line in process.stderr.splitlines() if line.startswith("train: ")]
        assert len(complaints) == 1 and page in complaints[0], process.stderr
        os.rmdir(page)
        process = run("--resume", path, "--json")  # it has nothing left to do
        assert process.returncode == 0 and os.path.isfile(page), process
        assert json.loads(process.stdout.splitlines()[-1])["loss"] is None, process.stdout
        assert [line["step"] for line in metrics(path) if "loss" in line][-1] == 24


def patience():
    """--patience stops a run that does not get better, --keep-best ends with the best weights"""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run")
        result = result_of(run(*QUICK, "--steps", "5000", "--lr", "0.5", "--clip-norm", "0", "--json",
                               "--valid-every", "5", "--patience", "3", "--keep-best", "--out", path))
        assert result["steps"] < 5000, result
        losses = {line["step"]: line["valid_loss"] for line in metrics(path) if "valid_loss" in line}
        assert result["valid_loss"] == min(losses.values()), (result, losses)
        assert losses[result["steps"]] > min(losses.values()), losses


def diverges():
    """a loss that is no number ends the run with exit code 3 and the checkpoint that is good"""
    mad = ["--model", "rnn", "--optimizer", "sgd", "--lr", "10", "--clip-norm", "0", "--steps",
           "5000", "--longest", "6", "--warmup-steps", "0", "--momentum", "0.99"]
    with tempfile.TemporaryDirectory() as folder:
        broken = write(folder, "a.cfg", "lr = 10\n")
        process = run(*QUICK, "--optimizer", "sgd", "--lr", "10", "--clip-norm", "0", "--warmup-steps",
                      "0", "--steps", "3000", "--momentum", "0.999", "--no-norm-first", "--config",
                      broken, "--out", folder + "/run", "--save-every", "1")
        if process.returncode == 0:
            process = run(*mad, "--out", folder + "/other", "--save-every", "1")
        assert process.returncode == 3, (process.returncode, process.stderr)
        message = process.stderr.splitlines()[-1]
        assert re.search(r"step \d+: .*; .*last.safetensors, of step \d+, is good", message), message
        page = process.stdout.splitlines()[-1].removeprefix("report: ")
        assert os.path.dirname(page) == os.path.dirname(message.split("; ")[1].split(",")[0]), page
        assert "diverged: step" in open(page).read()


def learns_pairs_and_text():
    """pairs of two columns or two files and a long text are learned; bad lines are named"""
    with tempfile.TemporaryDirectory() as folder:
        lines = [f"{a} {b} {c}\t{c} {b} {a}" for a in "abc" for b in "abc" for c in "abc"]
        pairs = write(folder, "pairs.tsv", "\n".join(lines + ["one column", "a\t", "\xff\tb"]) + "\n")
        sources = write(folder, "a.src", "".join(line.split("\t")[0] + "\n" for line in lines))
        targets = write(folder, "a.tgt", "".join(line.split("\t")[1] + "\n" for line in lines))
        for files in [["--train", pairs, "--valid", pairs],
                      ["--train", sources, "--train-target", targets, "--valid", sources,
                       "--valid-target", targets]]:
            for rest in [["--epochs", "40", "--batch-size", "9"],
                         ["--steps", "100", "--max-tokens", "63"]]:
                process = run(*files, *rest, "--d-model", "16", "--d-ff", "32", "--json", "--lr", "0.01")
                result = result_of(process)
                assert result["exact_match"] > 0.9, (files, rest, result)
                if pairs in files:
                    assert f"{pairs}:28: 1 columns, must be 2" in process.stderr, process.stderr
                    assert f"{pairs}:29: the target is empty" in process.stderr, process.stderr
        text = write(folder, "text.txt", "to be or not to be, that is it.\n" * 60)
        result = result_of(run("--model", "decoder_lm", "--text", text, "--context", "16", "--steps",
                               "200", "--d-model", "32", "--d-ff", "64", "--json"))
        assert result["valid_loss"] < 0.5, result


def checks_gradients():
    """--check-grad compares every weight's gradient with differences, for every model"""
    for model in ["transformer", "rnn", "lstm", "gru", "decoder_lm", "encoder"]:
        process = run("--model", model, "--check-grad", "--batch-size", "4", "--longest", "5")
        assert process.returncode == 0, (model, process.stdout)
        assert re.search(r"(\d+) of \1 weights", process.stdout), process.stdout


def overfits_a_batch():
    """--overfit-batch learns one batch by heart; --time stops after that long"""
    result = result_of(run("--overfit-batch", "--batch-size", "4", "--longest", "5", "--steps", "150",
                           "--json"))
    assert result["loss"] < 0.05, result
    started = time.time()
    process = run("--time", "2s", "--longest", "5", "--json")
    assert process.returncode == 0 and 2 < time.time() - started < 60, process.stderr


def on_a_terminal(columns, *arguments):
    """What the program draws on a terminal of that width: exit code and text."""
    master, slave = open_terminal()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm"}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen([PROGRAM, *arguments], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=slave, env=environment)
    os.close(slave)
    drawn = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # the program has closed its side
            break
        if not part:
            break
        drawn += part
    os.close(master)
    return process.wait(timeout=60), drawn.decode()


def live_line():
    """on a terminal one live line is redrawn, as wide as the terminal allows; elsewhere plain lines"""
    for columns in [60, 80, 120]:
        code, drawn = on_a_terminal(columns, *QUICK, "--steps", "400")
        assert code == 0, drawn
        lines = [line.replace("\x1b[K", "").rstrip("\r\n") for line in drawn.split("\r") if line.strip()]
        assert len(lines) > 2 and drawn.count("\n") == 1, (len(lines), drawn[-200:])
        for line in lines:
            assert len(line) <= columns, (columns, len(line), line)
            assert "█" in line or "░" in line, line
        assert "400/400" in lines[-1] and "loss" in lines[-1] and "left" in lines[-1], lines[-1]
        if columns == 120:
            for part in ["acc ", "lr ", "gradient ", "tokens/s"]:
                assert part in lines[-1], lines[-1]
    plain = run(*QUICK).stderr
    assert "\x1b" not in plain and "\r" not in plain and plain.count("\n") == 10, plain


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
        usage_errors, file_errors, command_line_wins, every_model_learns, resumes_bit_for_bit,
        keeps_runs, longer_run, full_disk_while_saving, report, patience, diverges,
        learns_pairs_and_text, checks_gradients,
        overfits_a_batch, live_line, full_disk, stops_politely,
        threads_from_the_environment, version_and_help
    ]))

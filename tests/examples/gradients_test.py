"""gradients as a user meets it: the table, one layer in full, JSON, colours, mistakes.

usage: gradients_test.py PROGRAM SOURCE
"""

import json
import os
import re
import subprocess
import sys

from cases import open_terminal, read_to_end, run_cases

PROGRAM, SOURCE = sys.argv[1:]
ESCAPE = "\033["


def run(*arguments, stdout=subprocess.PIPE):
    return subprocess.run([PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=stdout,
                          stderr=subprocess.PIPE, text=True, timeout=250)


def json_rows(*arguments):
    process = run("--json", *arguments)
    assert process.returncode == 0, (process.returncode, process.stderr)
    return [json.loads(line) for line in process.stdout.splitlines()]


def on_terminal(*arguments, **env):
    """What the program prints when its output is a terminal."""
    main, side = open_terminal()
    full = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    process = subprocess.Popen([PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=side,
                               stderr=subprocess.DEVNULL, env={**full, "TERM": "xterm", **env})
    os.close(side)
    output = read_to_end(main)
    assert process.wait(timeout=60) == 0, output
    return output.decode()


def whole_table():
    """the table has a line for each row of --list, as wide as a terminal, plain, and ends well"""
    process = run()
    assert process.returncode == 0, process.stdout[-500:]
    lines = process.stdout.splitlines()
    rows = [line for line in lines if re.search(r"\d\.\de-\d\d.* \d+\.\d$", line)]
    listed = run("--list").stdout.splitlines()
    assert len(rows) == len(listed) > 100, (len(rows), len(listed))
    assert max(map(len, lines)) <= 80 and len({len(row) for row in rows}) == 1, process.stdout
    assert ESCAPE not in process.stdout and process.stderr == "", process.stderr
    assert f"all right: {len(rows)} rows" in lines[-1], lines[-1]


def json_lines():
    """--json prints nothing but one object per row, with numbers that are small"""
    rows = json_rows()
    assert [row["layer"] for row in rows if row["layer"] == "LSTM"], rows[0]
    for row in rows:
        assert set(row) == {"layer", "option", "ok", "parameters", "parameters_on_paper", "first",
                            "second", "seconds"}, row
        assert row["ok"] and row["parameters"] == row["parameters_on_paper"], row
        for order in (row["first"], row["second"]):
            errors = [order[key] for key in ("inputs", "weights") if order[key] is not None]
            assert errors and max(errors) <= 1e-5, row
            assert order["worst"]["relative"] == max(errors), row


def every_layer_has_a_row():
    """every layer (a struct of nn/ that can be called) has a row in the table"""
    layers = {row["layer"] for row in json_rows()}
    known = set()
    for name in os.listdir(os.path.join(SOURCE, "nn")):
        if not name.endswith(".h"):
            continue
        with open(os.path.join(SOURCE, "nn", name), encoding="utf-8") as file:
            text = file.read()
        for struct, body in re.findall(r"^struct (\w+)[^;{]*\{(.*?)^\};", text, re.S | re.M):
            if "operator()(" in body:
                known.add(struct)
        known.update(re.findall(r"^using (\w+) = (?:BatchNorm|Recurrent|BasicImageAttention)<", text, re.M))
    # What these stand for has rows: the instances of templates, what a variant holds.
    general = {"BatchNorm", "Recurrent", "BasicImageAttention", "AnyRecurrent"}
    missing = known - general - layers
    assert len(known) > 20 and not missing, f"examples/common/layers has no row of {missing}"


def one_layer():
    """--layer shows every tensor of a layer by name, with its worst element"""
    process = run("--layer", "lstmcell")
    assert process.returncode == 0, process.stderr
    assert process.stdout.count("parameters, as on paper") == 2, process.stdout
    for name in ["x", "h", "c", "weight_ih", "weight_hh", "bias_ih", "bias_hh", "upstream"]:
        line = re.search(rf"^  {name}\b.*\[\d+(, \d+)?\] .*\[\d+(, \d+)?\] .*e-\d\d$",
                         process.stdout, re.M)
        assert line, (name, process.stdout)
    assert re.search(r"the worst: \w+ at \[.*\], relative error \d", process.stdout), process.stdout
    exact = run("--layer", "LSTMCell, without bias").stdout
    assert exact.count("as on paper") == 1 and "bias_ih" not in exact, exact


def too_strict():
    """an error above --rtol is exit code 4, the rows are named, and the element is told"""
    process = run("--rtol", "1e-13")
    assert process.returncode == 4, process.returncode
    wrong = [line for line in process.stdout.splitlines() if line.endswith("  WRONG")]
    assert len(wrong) > 100, process.stdout[-500:]
    assert re.search(r"^\d+ of \d+ rows WRONG", process.stdout, re.M), process.stdout[-500:]
    assert "\n  Linear, one vector\n" in process.stdout
    one = run("--rtol", "1e-13", "--layer", "LayerNorm")
    assert one.returncode == 4 and re.search(r"WRONG.*elements wrong.*analytic", one.stdout), one
    lines = run("--rtol", "1e-13", "--layer", "LayerNorm", "--json")
    assert lines.returncode == 4, lines.returncode
    row = json.loads(lines.stdout)
    assert not row["ok"] and "elements wrong" in row["first"]["problem"], row


def colours():
    """colours on a terminal; none with NO_COLOR, on a dumb terminal, and in JSON"""
    layer = ["--layer", "Linear"]
    assert ESCAPE in on_terminal(*layer)
    assert ESCAPE not in on_terminal(*layer, NO_COLOR="1")
    assert ESCAPE not in on_terminal(*layer, TERM="dumb")
    assert ESCAPE not in on_terminal(*layer, "--json")


def usage_errors():
    """a mistake in the call is one line that names it and what is allowed, exit code 2"""
    for arguments, words in [
        (["--nosuch"], ["--nosuch", "--help"]),
        (["extra"], ["extra"]),
        (["--layer"], ["--layer"]),
        (["--layer", "Liner"], ["'Liner'", "Linear", "--list"]),
        (["--layer", "norm"], ["LayerNorm", "RmsNorm"]),
        (["--layer", ""], ["''", "--list"]),
        (["--rtol", "0"], ["--rtol", "'0'", "from 1e-16 to 1"]),
        (["--rtol", "nan"], ["--rtol", "nan"]),
        (["--rtol", "1e-5x"], ["1e-5x"]),
        (["--seed", "-1"], ["--seed", "-1"]),
        (["--threads", "0"], ["--threads"]),
    ]:
        process = run(*arguments)
        message = process.stderr
        assert process.returncode == 2, (arguments, process.returncode, message)
        assert message.startswith("gradients: ") and message.count("\n") == 1, (arguments, message)
        assert all(word in message for word in words), (arguments, message)
        assert process.stdout == "", (arguments, process.stdout)


def seeds():
    """the same seed gives the same errors, for any number of threads; another seed others"""
    def errors(*arguments):
        return [row["first"] for row in json_rows("--layer", "Linear", *arguments)]
    assert errors("--threads", "1") == errors("--threads", "2")
    assert errors() == errors("--seed", "1") != errors("--seed", "2")


def full_disk():
    """output that cannot be written is an error, not a success"""
    with open("/dev/full", "w") as full:
        process = run("--layer", "Linear", stdout=full)
    assert process.returncode == 1, process.returncode
    assert "No space left on device" in process.stderr, process.stderr


if __name__ == "__main__":
    sys.exit(run_cases([
        whole_table, json_lines, every_layer_has_a_row, one_layer, too_strict, colours,
        usage_errors, seeds, full_disk
    ]))

"""attention as a user meets it: page, SVG, JSON, terminal; what is trained without a checkpoint;
mistakes.

usage: attention_program_test.py TRAIN ATTENTION
"""

import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

from cases import open_terminal, run_cases

TRAIN, ATTENTION = map(os.path.abspath, sys.argv[1:])
FOLDER = tempfile.TemporaryDirectory()
MARKUP = ["<script>", "</script>", '"', "&", "'", "<!--", "a"]


def path(name):
    return os.path.join(FOLDER.name, name)


def train(name, *arguments):
    subprocess.run([TRAIN, "--out", path(name), *arguments], stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, timeout=300)


def train_all():
    task = ["--task", "reverse", "--symbols", "5", "--longest", "5", "--lr", "0.005"]
    small = ["--d-model", "16", "--d-ff", "32", "--num-heads", "2", "--max-length", "14", "--steps", "60"]
    train("transformer", *task, *small)
    train("decoder_lm", *task, *small, "--model", "decoder_lm")
    train("encoder", *task, *small, "--model", "encoder")
    train("gru", *task, "--model", "gru", "--hidden-size", "16", "--steps", "60")
    train("none", *task, "--model", "gru", "--attention", "none", "--hidden-size", "16", "--steps", "5")
    with open(path("markup.tsv"), "w") as file:
        for i in range(40):
            tokens = [MARKUP[(i + k * (i % 5 + 1)) % len(MARKUP)] for k in range(1 + i % 4)]
            file.write(" ".join(tokens) + "\t" + " ".join(tokens) + "\n")
    pairs = ["--train", path("markup.tsv"), "--valid", path("markup.tsv")]
    train("markup", *pairs, *small)
    with open(path("text.txt"), "w") as file:
        file.write("to be or not to be, that\tis it.\n" * 40)
    train("text", "--model", "decoder_lm", "--text", path("text.txt"), "--context", "12", *small)


def run(*arguments, environment=None, folder=None):
    process = subprocess.run([ATTENTION, *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, timeout=300, cwd=folder or FOLDER.name,
                             env=dict(os.environ, **(environment or {})))
    process.out, process.err = process.stdout.decode(), process.stderr.decode()
    return process


def good(*arguments, **rest):
    process = run(*arguments, **rest)
    assert process.returncode == 0, (arguments, process.err)
    return process


def shown(name, source, *arguments):
    """The JSON of an answer."""
    process = good("--checkpoint", path(name), "--input", source, "--format", "json", *arguments)
    return [json.loads(line) for line in process.out.splitlines()]


def json_says_it_all():
    """json: every head, its masks and statistics; of each step the likeliest tokens"""
    heads = {"transformer": 2 * 2 * 3, "decoder_lm": 3 * 2, "gru": 1, "encoder": 3 * 2}
    for name, count in heads.items():
        [view] = shown(name, "a b c")
        assert view["source"] == "a b c" and view["unknown"] == [], view
        assert len(view["attention"]) == count, (name, len(view["attention"]))
        answer = view["answer"]
        assert len(view["steps"]) == len(answer["tokens"]) + answer["finished"], view
        total = sum(math.log(step["probability"]) for step in view["steps"])
        assert math.isclose(total, answer["log_prob"], abs_tol=1e-3), (name, total, answer)
        for step in view["steps"]:
            top = [choice["probability"] for choice in step["top"]]
            assert len(top) == 5 and top == sorted(top, reverse=True) and sum(top) <= 1.00001, step
            assert step["top"][0]["token"] == step["token"], step  # greedy search
        for head in view["attention"]:
            causal = head["part"] == "answer" or name == "decoder_lm"
            assert (head["masked"] is not None) == causal, (name, head["part"])
            for q, row in enumerate(head["weights"]):
                assert len(row) == len(head["keys"]) and abs(sum(row) - 1) < 1e-4, row
                for k, weight in enumerate(row):
                    assert not causal or head["masked"][q][k] == (k > q), (q, k)
                    assert not causal or k <= q or weight == 0, (q, k, weight)
            assert 0 <= head["statistics"]["entropy"] <= head["statistics"]["most_entropy"] + 1e-6
            if head["first_step"] is not None:
                rows = len(head["weights"]) - head["first_step"]
                assert rows >= len(view["steps"]), (name, head["part"], rows)


def statistics_are_those_of_the_weights():
    """the numbers about a head follow from its weights"""
    [view] = shown("gru", "a b c d")
    [head] = view["attention"]
    weights, n = head["weights"], len(head["keys"])

    def mean(key_of):
        cells = [row[key_of(q)] for q, row in enumerate(weights) if 0 <= key_of(q) < n]
        return sum(cells) / len(cells)

    entropy = -sum(w * math.log(w) for row in weights for w in row if w > 0) / len(weights)
    want = {"entropy": entropy, "most_entropy": math.log(n), "diagonal": mean(lambda q: q),
            "anti_diagonal": mean(lambda q: n - 1 - q), "previous": mean(lambda q: q - 1)}
    assert set(head["statistics"]) == set(want), head["statistics"]
    for name, value in want.items():
        assert math.isclose(head["statistics"][name], value, abs_tol=1e-4), (name, value, head)


def files():
    """html and svg are files in the current folder, json and terminal standard output"""
    with tempfile.TemporaryDirectory() as folder:
        call = ["--checkpoint", path("gru"), "--input", "a b c"]
        process = good(*call, folder=folder)
        assert process.out == "attention.html is written: open it in a browser\n", process.out
        assert good(*call, "--format", "svg", folder=folder).out == "attention.svg is written\n"
        assert sorted(os.listdir(folder)) == ["attention.html", "attention.svg"], os.listdir(folder)
        for kind in ["json", "terminal"]:
            printed = good(*call, "--format", kind, folder=folder).out
            good(*call, "--format", kind, "--out", "file", folder=folder)
            with open(os.path.join(folder, "file"), encoding="utf-8") as file:
                assert file.read() == printed, kind
        for name in ["attention.html", "attention.svg", "file"]:  # its own files it writes again
            good(*call, "--out", name, folder=folder)
            assert os.path.getsize(os.path.join(folder, name)) > 20000


def nothing_foreign_is_overwritten():
    """a file that is not from this program stays as it is"""
    with open(path("notes.html"), "w") as file:
        file.write("<p>notes</p>")
    process = run("--checkpoint", path("gru"), "--input", "a", "--out", "notes.html")
    assert process.returncode == 2 and process.out == "", process
    assert process.err.count("\n") == 1 and "notes.html is there already" in process.err, process.err
    with open(path("notes.html")) as file:
        assert file.read() == "<p>notes</p>"
    open(path("empty.html"), "w").close()
    good("--checkpoint", path("gru"), "--input", "a", "--out", "empty.html")


def svg_is_xml():
    """B18, VIS1: the SVG is well-formed, whatever the tokens, and has every token as text"""
    namespace = "{http://www.w3.org/2000/svg}"
    for name, source in [("markup", " ".join(MARKUP)), ("gru", " ".join(MARKUP)),
                         ("gru", "a \x1b[1m \x07 b"), ("text", "to b\n\t")]:
        out = path("picture.svg")
        good("--checkpoint", path(name), "--input", source, "--format", "svg", "--out", out)
        root = xml.etree.ElementTree.parse(out).getroot()
        tags = {element.tag for element in root.iter()}
        assert tags <= {namespace + tag for tag in ["svg", "desc", "style", "defs", "pattern", "rect",
                                                    "path", "text", "g", "title"]}, tags
        texts = [element.text for element in root.iter(namespace + "text")]
        if name == "text":
            assert "↵" in texts and "⇥" in texts and "␣" in texts, texts
        elif "\x1b" not in source:
            assert set(MARKUP) <= set(texts), texts


def terminal():
    """terminal: block characters, no wider than 80 columns, no escape sequences in a pipe"""
    for name, source in [("transformer", "a b c"), ("markup", " ".join(MARKUP)), ("encoder", "a b")]:
        process = good("--checkpoint", path(name), "--input", source, "--format", "terminal")
        assert "\x1b" not in process.out, process.out
        assert any(block in process.out for block in "░▒▓█"), process.out
        assert max(map(len, process.out.splitlines())) <= 80, process.out
    assert "·" in good("--checkpoint", path("transformer"), "--input", "a b", "--format", "terminal").out
    process = good("--checkpoint", path("gru"), "--input", "a \x1b[31mred", "--format", "terminal")
    assert "\x1b" not in process.out and "\ufffd[31mred" in process.out, process.out


def colours():
    """on a terminal there are colours, and no more columns than it has"""
    import fcntl
    import struct
    import termios
    import threading
    for environment, coloured in [({"TERM": "xterm"}, True), ({"TERM": "xterm", "NO_COLOR": "1"}, False),
                                  ({"TERM": "dumb"}, False)]:
        ours, theirs = open_terminal()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 50, 0, 0))
        chunks = []

        def read():
            try:
                while chunk := os.read(ours, 65536):
                    chunks.append(chunk)
            except OSError:
                pass

        reader = threading.Thread(target=read)
        reader.start()
        clean = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
        subprocess.run([ATTENTION, "--checkpoint", path("transformer"), "--input", "a b c", "--format",
                        "terminal"], stdin=subprocess.DEVNULL, stdout=theirs, stderr=subprocess.PIPE,
                       env=dict(clean, **environment), timeout=60, check=True)
        os.close(theirs)
        reader.join()
        os.close(ours)
        text = b"".join(chunks).decode()
        assert ("\x1b[" in text) == coloured, text
        if not coloured:
            assert max(map(len, text.splitlines())) <= 50, text


def compares():
    """--compare: two models, one after the other, read the same source"""
    first, second = shown("transformer", "a b c", "--compare", path("gru"))
    assert first["model"] == "transformer", first["model"]
    assert second["model"] == "gru with additive attention", second["model"]
    assert first["source"] == second["source"] == "a b c"
    assert second["attention"][0]["part"] == "answer_to_source"


def unknown_tokens():
    """what is not in the vocabulary is told on stderr, and shown as it is written"""
    process = good("--checkpoint", path("gru"), "--input", "a <script> b", "--format", "json")
    assert process.err == ("attention: 1 token is not in the model's vocabulary, read as <unk>: "
                           "'<script>'\n"), process.err
    view = json.loads(process.out)
    assert view["unknown"] == ["<script>"], view
    assert view["attention"][0]["keys"] == ["a", "<script>", "b"], view["attention"][0]["keys"]


def trains_first():
    """without --checkpoint a Transformer and a GRU learn the task, as stderr says"""
    process = good("--steps", "3", "--format", "json", "--task", "sort")
    first, second = [json.loads(line) for line in process.out.splitlines()]
    assert first["model"] == "transformer" and second["model"].startswith("gru"), process.out
    assert process.err.startswith("attention: no --checkpoint"), process.err
    assert "transformer learns sort 3/3" in process.err and "gru learns sort 3/3" in process.err
    assert len(first["source"].split()) > 3, first["source"]
    same = good("--steps", "3", "--format", "json", "--task", "sort", "--threads", "1")
    assert same.out == process.out
    add = good("--steps", "2", "--format", "json", "--task", "add", "--input", "1+2")
    assert json.loads(add.out.splitlines()[0])["source"] == "1+2"


def stops():
    """a signal ends the training: a line says so, 128 + its number is the exit code"""
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen([ATTENTION, "--steps", "100000"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder)
        assert process.stderr.readline().startswith("attention: no --checkpoint")
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        assert process.returncode == 130 and out == "", (process.returncode, out)
        assert err.splitlines()[-1] == "attention: stopped while the transformer was learning", err
        assert os.listdir(folder) == [], os.listdir(folder)


def texts():
    """a model of text is shown how it goes on, as far as it has places"""
    [view] = shown("text", "to b", "--max-length", "5")
    assert len(view["steps"]) == 5 and not view["answer"]["finished"], view["answer"]
    head = view["attention"][0]
    assert head["keys"][:4] == list("to b") and head["first_step"] == 3, head["keys"]


def mistakes():
    """a mistake is one line that names it, with its exit code, and nothing is written"""
    gru = ["--checkpoint", path("gru")]
    for arguments, code, words in [
        (gru, 2, ["--input"]),
        ([*gru, "--input", ""], 2, ["--input", "empty"]),
        ([*gru, "--input", "  "], 2, ["--input", "no tokens"]),
        ([*gru, "--input", b"a\xff"], 2, ["--input", "byte 2"]),
        ([*gru, "--input", "a", "--format", "png"], 2, ["--format", "'png'", "html, svg, json"]),
        ([*gru, "--input", "a", "--out", ""], 2, ["--out", "empty"]),
        ([*gru, "--input", "a", "--out", "no/such/page.html"], 1, ["no/such/page.html"]),
        ([*gru, "--input", "a", "--out", "."], 1, ["."]),
        ([*gru, "--input", "a", "--task", "sort"], 2, ["--task", "--checkpoint"]),
        ([*gru, "--input", "a", "--steps", "5"], 2, ["--steps", "--checkpoint"]),
        ([*gru, "--input", "a", "--max-length", "0"], 2, ["--max-length", "'0'"]),
        ([*gru, "--input", "a", "--compare", path("missing")], 1, [path("missing")]),
        ([*gru, "--input", "a", "--compare", path("none")], 2, ["no attention"]),
        (["--compare", path("gru")], 2, ["--compare", "--checkpoint"]),
        (["--checkpoint", path("missing"), "--input", "a"], 1, [path("missing")]),
        (["--checkpoint", "", "--input", "a"], 1, ["--checkpoint", "empty"]),
        (["--checkpoint", path("none"), "--input", "a"], 2, ["no attention"]),
        (["--checkpoint", path("transformer"), "--input", "a " * 15], 2, ["15 tokens", "14 places"]),
        (["--checkpoint", path("encoder"), "--input", "a " * 9], 2, ["9 tokens", "14 places"]),
        (["--nosuch"], 2, ["--nosuch", "--help"]),
    ]:
        with tempfile.TemporaryDirectory() as folder:
            process = run(*arguments, folder=folder)
            assert process.returncode == code, (words, process.returncode, process.err)
            assert process.out == "" and process.err.count("\n") == 1, (words, process.err)
            assert all(word in process.err for word in words), (words, process.err)
            assert os.listdir(folder) == [], (words, os.listdir(folder))


def helps():
    """--help lists the options"""
    text = good("--help").out
    for option in ["--checkpoint", "--compare", "--input", "--format", "--out", "--task"]:
        assert option in text, option


if __name__ == "__main__":
    train_all()
    sys.exit(run_cases([
        json_says_it_all, statistics_are_those_of_the_weights, files, nothing_foreign_is_overwritten,
        svg_is_xml, terminal, colours, compares, unknown_tokens, trains_first, stops, texts, mistakes, helps,
    ]))

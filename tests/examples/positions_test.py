"""positions as a user meets it: the encoding as blocks, page and JSON, mistakes.

usage: positions_test.py PROGRAM
"""

import json
import math
import os
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

from cases import run_cases

PROGRAM = sys.argv[1]


def run(*arguments, stdout=subprocess.PIPE):
    return subprocess.run([PROGRAM, *arguments], stdin=subprocess.DEVNULL, stdout=stdout,
                          stderr=subprocess.PIPE, text=True, timeout=60)


def encoding(length, width):
    """The formula of the paper."""
    angle = [[p / 10000 ** (2 * (k // 2) / width) for k in range(width)] for p in range(length)]
    return [[math.cos(a) if k % 2 else math.sin(a) for k, a in enumerate(row)] for row in angle]


def json_is_the_formula():
    """--format json has the numbers of the paper's formula, and their dot products"""
    for length, width in [(64, 64), (1, 1), (5, 1), (1, 6), (9, 7), (40, 128)]:
        process = run("--format", "json", "--length", str(length), "--d-model", str(width))
        assert process.returncode == 0, process.stderr
        got, want = json.loads(process.stdout), encoding(length, width)
        assert (got["length"], got["d_model"]) == (length, width), got
        assert len(got["encoding"]) == length and len(got["products"]) == length
        for p in range(length):
            assert len(got["encoding"][p]) == width and len(got["products"][p]) == length
            for k in range(width):
                assert abs(got["encoding"][p][k] - want[p][k]) < 1e-6, (p, k)
            for q in range(length):
                product = sum(a * b for a, b in zip(want[p], want[q]))
                assert abs(got["products"][p][q] - product) < 1e-6, (p, q)
    numbers = run("--format", "json").stdout
    assert "-0.0," not in numbers and "-0.0]" not in numbers


def blocks():
    """on a terminal: block characters, at most 80 columns, with what they mean"""
    for arguments in [[], ["--length", "1", "--d-model", "1"], ["--length", "200", "--d-model", "512"],
                      ["--length", "3", "--d-model", "5"]]:
        process = run(*arguments)
        assert process.returncode == 0, process.stderr
        lines = process.stdout.splitlines()
        assert max(map(len, lines)) <= 80, max(lines, key=len)
        assert "10000^(2i" in process.stdout and "\033" not in process.stdout
    lines = run().stdout.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("The encoding"))
    assert lines[start + 1] == "    0 " + "▒█" * 32, lines[start + 1]  # sin 0 and cos 0
    start = next(i for i, line in enumerate(lines) if line.startswith("Dot product of position 0"))
    assert lines[start + 1].split()[:2] == ["0", "32.00"], lines[start + 1]
    assert lines[start + 1].count("█") == 60, lines[start + 1]


def picture():
    """--format svg draws each number: blue below zero, red above, the stronger the larger"""
    for length, width in [(9, 7), (1, 1), (40, 128)]:
        process = run("--format", "svg", "--length", str(length), "--d-model", str(width))
        assert process.returncode == 0, process.stderr
        root = ElementTree.fromstring(process.stdout)
        name = "{http://www.w3.org/2000/svg}"
        maps = root.findall(name + "g")
        cells = [{(int(r.get("y")), int(r.get("x"))): r for r in m.findall(name + "rect")} for m in maps]
        assert [len(c) for c in cells] == [length * width, length * length], [len(c) for c in cells]
        want = encoding(length, width)
        for (p, k), cell in cells[0].items():
            assert abs(float(cell.get("fill-opacity")) - abs(want[p][k])) < 1e-3, (p, k)
            if abs(want[p][k]) > 1e-9:
                assert cell.get("fill") == ("#b2182b" if want[p][k] > 0 else "#2166ac"), (p, k)
        assert len(root.find(name + "polyline").get("points").split()) == length


def files():
    """--out writes the file whole; what is there before is replaced, standard output stays empty"""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "page.html")
        for kind in ["html", "json", "svg", "terminal"]:
            process = run("--format", kind, "--out", path)
            assert process.returncode == 0 and process.stdout == "", process
            with open(path, encoding="utf-8") as file:
                assert file.read() == run("--format", kind).stdout
        assert os.listdir(folder) == ["page.html"]


def mistakes():
    """a mistake in the call is one line that names it and what is allowed; so is a bad file"""
    with tempfile.TemporaryDirectory() as folder:
        for code, arguments, words in [
            (2, ["--nosuch"], ["--nosuch", "--help"]),
            (2, ["--length", "0"], ["--length", "'0'", "from 1 to 4096"]),
            (2, ["--length", "-3"], ["--length", "'-3'"]),
            (2, ["--d-model", "6x"], ["--d-model", "6x"]),
            (2, ["--d-model", "0"], ["--d-model", "from 1"]),
            (2, ["--length", "1000", "--d-model", "10"], ["--length 1000", "1010000", "150000"]),
            (2, ["--format", "pdf"], ["pdf", "terminal, html, svg, json"]),
            (2, ["extra"], ["extra"]),
            (1, ["--out", folder + "/none/a.html"], [folder + "/none/a.html", "No such file"]),
            (1, ["--out", folder], [folder]),
            (1, ["--out", ""], []),
        ]:
            process = run(*arguments)
            message = process.stderr
            assert process.returncode == code, (arguments, process.returncode, message)
            assert message.startswith("positions: ") and message.count("\n") == 1, (arguments, message)
            assert all(word in message for word in words), (arguments, message)
            assert process.stdout == "", (arguments, process.stdout)
        assert os.listdir(folder) == []


def full_disk():
    """output that cannot be written is an error, not a success"""
    with open("/dev/full", "w") as full:
        process = run(stdout=full)
    assert process.returncode == 1, process.returncode
    assert "No space left on device" in process.stderr, process.stderr


if __name__ == "__main__":
    sys.exit(run_cases([json_is_the_formula, blocks, picture, files, mistakes, full_disk]))

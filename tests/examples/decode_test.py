"""decode as a user meets it: one answer for each line, searches, JSON, mistakes, broken files.

usage: decode_test.py TRAIN DECODE SOURCE_ROOT
"""

import json
import math
import os
import select
import subprocess
import sys
import tempfile

from cases import run_cases

TRAIN, DECODE, ROOT = sys.argv[1:]
FOLDER = tempfile.TemporaryDirectory()
SYMBOLS = "abcde"
SOURCES = "a b c d\n\ne d\nb\nc c a e b a\na\n"
REVERSED = "d c b a\n\nd e\nb\na b e a c c\na\n"


def path(name):
    return os.path.join(FOLDER.name, name)


def write(name, data):
    with open(path(name), "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())
    return path(name)


def train(name, *arguments):
    subprocess.run([TRAIN, "--out", path(name), *arguments], stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=True, timeout=300)


def train_all():
    task = ["--task", "reverse", "--symbols", "5", "--longest", "6", "--lr", "0.005"]
    small = ["--d-model", "32", "--d-ff", "64", "--max-length", "14", "--steps", "500"]
    train("transformer", *task, *small)
    train("decoder_lm", *task, *small, "--model", "decoder_lm")
    train("encoder", *task, *small, "--model", "encoder", "--max-length", "17")
    train("gru", *task, "--model", "gru", "--hidden-size", "32", "--steps", "500")
    text = write("text.txt", "to be or not to be, that\tis it.\n" * 60)
    train("text", "--model", "decoder_lm", "--text", text, "--context", "16", "--steps", "300",
          "--d-model", "32", "--d-ff", "64", "--max-length", "16", "--lr", "0.005")


def run(model, *arguments, text=SOURCES, stdout=subprocess.PIPE):
    data = text.encode() if isinstance(text, str) else text
    process = subprocess.run([DECODE, "--checkpoint", model, *arguments], input=data, stdout=stdout,
                             stderr=subprocess.PIPE, timeout=120)
    process.out = (process.stdout or b"").decode()
    process.err = process.stderr.decode()
    return process


def answers(name, *arguments, text=SOURCES):
    """What a run that ends well writes."""
    process = run(path(name), *arguments, text=text)
    assert process.returncode == 0 and process.err == "", (name, arguments, process.err)
    return process.out


def objects(name, *arguments, text=SOURCES):
    return [json.loads(line) for line in answers(name, "--json", *arguments, text=text).splitlines()]


def one_line_for_each():
    """TXT3: each line has its answer in its place, an empty line an empty one, for any batch"""
    for name in ["transformer", "decoder_lm", "gru", "encoder"]:
        assert answers(name) == REVERSED, (name, answers(name))
        for batch in ["1", "2", "5"]:
            assert answers(name, "--batch-size", batch) == REVERSED, (name, batch)
    assert answers("gru", text="") == ""
    assert answers("gru", text="a b") == "b a\n"
    assert answers("gru", text="\n \n") == "\n\n"
    assert answers("gru", "--threads", "2") == REVERSED


def where_from_and_where_to():
    """B12: a file is as good as stdin, a folder as the checkpoint in it; CRLF and BOM are no text"""
    source = write("crlf.txt", "\ufeff" + SOURCES.replace("\n", "\r\n"))
    assert answers("gru", "--input", source, text="") == REVERSED
    assert run(path("gru/model.safetensors")).out == REVERSED


def bad_lines():
    """TXT5, B12, B13: a line that cannot be answered is named and empty; the others are answered"""
    long = " ".join("a" * 15)
    text = b"a b\n\xffa\n" + long.encode() + b"\nb a\nx\0\n"
    for name, batch in [("transformer", "1"), ("transformer", "64"), ("decoder_lm", "2"),
                        ("encoder", "3")]:
        process = run(path(name), "--batch-size", batch, text=text)
        assert process.returncode == 1, (name, process.err)
        assert process.out == "b a\n\n\na b\n\n", (name, process.out)
        lines = process.err.splitlines()
        assert lines[0] == "decode: standard input:2: byte 1 is not UTF-8", lines
        assert lines[1].startswith("decode: standard input:3: 15 tokens and an answer"), lines
        assert lines[2] == "decode: standard input:5: byte 2 is not UTF-8", lines
        assert len(lines) == 3, lines
    process = run(path("transformer"), "--input", write("bad.txt", text), "--json")
    assert process.returncode == 1 and path("bad.txt") + ":2: byte 1" in process.err, process.err
    found = [json.loads(line) for line in process.out.splitlines()]
    assert [len(line["answers"]) for line in found] == [1, 0, 0, 1, 0], found
    assert [line.get("error") is not None for line in found] == [False, True, True, False, True]
    assert answers("gru", text=long + "\n").count("a") > 6  # has no places that could be too few


def unknown_tokens():
    """what is not in the vocabulary is read as <unk>, and counted"""
    process = run(path("gru"), text="a z b\ny z <pad> <eos>\n")
    assert process.returncode == 0 and process.out.count("\n") == 2, process.out
    assert process.err == ("decode: 5 tokens are not in the model's vocabulary, read as <unk>: "
                           "'<eos>', '<pad>', 'y', 'z'\n"), process.err
    assert "1 token is" in run(path("gru"), text="z\n").err


def rows(table):
    return [line.split("\t") for line in table.splitlines()]


def searches():
    """beam 1 is greedy, a wide beam is exhaustive, n-best are in order, and the score is log_prob / length^alpha"""
    for name in ["transformer", "decoder_lm", "gru"]:
        assert answers(name, "--beam", "1") == REVERSED, name
        assert answers(name, "--beam", "4") == REVERSED, name
        short = "a\nb\n\ne\n"
        best = ["--n-best", "5", "--max-length", "3"]
        table = rows(answers(name, "--beam", "400", *best, text=short))
        oracle = rows(answers(name, "--exhaustive", *best, text=short))
        assert len(table) == len(oracle), name
        for row, other in zip(table, oracle):
            assert row[:2] + row[4:] == other[:2] + other[4:], (name, row, other)
            assert abs(float(row[2]) - float(other[2])) < 2e-4, (name, row, other)
        assert [int(row[0]) for row in table] == [1] * 5 + [2] * 5 + [3] + [4] * 5, table
        assert [int(row[1]) for row in table[:5]] == [1, 2, 3, 4, 5], table
        assert [row[4] for row in table if row[1] == "1"] == ["a", "b", "", "e"], table
        scores = [float(row[2]) for row in table[:5]]
        assert scores == sorted(scores, reverse=True) and scores[0] > scores[4], scores
    many = answers("gru", "--exhaustive", "--max-length", "6", text="a b\n" * 20)
    assert many == "b a\n" * 20, many  # 20 times 55,987 answers, for each of which there is a limit
    for alpha in [0, 1, 0.5]:
        for line in objects("gru", "--beam", "3", "--n-best", "3", "--length-penalty", str(alpha)):
            for answer in line["answers"]:
                length = len(answer["tokens"]) + answer["finished"]
                score = answer["log_prob"] / length ** alpha
                assert math.isclose(answer["score"], score, abs_tol=2e-6), (alpha, answer)


def lengths():
    """--min-length and --max-length count the end symbol; what is cut is not finished"""
    cut = objects("gru", "--max-length", "3", text="a b c d e\na b\n")
    assert [line["answers"][0]["tokens"] for line in cut] == [["e", "d", "c"], ["b", "a"]], cut
    assert [line["answers"][0]["finished"] for line in cut] == [False, True], cut
    for name in ["transformer", "decoder_lm", "gru"]:
        for line in objects(name, "--min-length", "5", text="a\nb\n"):
            assert len(line["answers"][0]["tokens"]) >= 4, (name, line)
    assert answers("encoder", "--max-length", "3", text="a b c d e\n") == "e d c\n"


def samples():
    """sampling follows its seed, whatever the batch, and is greedy where one token is left"""
    hot = ["--sample", "--temperature", "20"]
    first = answers("gru", *hot)
    assert first == answers("gru", *hot, "--batch-size", "2", "--threads", "1"), first
    assert first != answers("gru", *hot, "--seed", "2"), first
    assert first != REVERSED, first
    assert answers("gru", *hot, "--top-k", "1") == REVERSED
    assert answers("gru", *hot, "--top-p", "0.00001") == REVERSED
    same = answers("gru", *hot, text="a b c\n" * 5).splitlines()
    assert len(same) == 5 and len(set(same)) > 1, same


def json_says_it_all():
    """--json: source, tokens, scores; with --attention what every head looks at"""
    heads = {"transformer": 2 * 4 * 3, "decoder_lm": 3 * 4, "gru": 1, "encoder": 3 * 4}
    for name, count in heads.items():
        plain = objects(name)
        assert [line["line"] for line in plain] == [1, 2, 3, 4, 5, 6], plain
        assert [line["source"] for line in plain] == SOURCES.splitlines(), plain
        assert plain[1]["answers"] == [], plain
        assert "attention" not in plain[0]["answers"][0], plain
        for line in objects(name, "--attention"):
            for answer in line["answers"]:
                maps = answer.pop("attention")
                assert line["answers"] == plain[line["line"] - 1]["answers"], (line, plain)
                assert len(maps) == count, (name, len(maps))
                for head in maps:
                    assert set(head) == {"part", "layer", "head", "queries", "keys", "weights"}
                    assert len(head["weights"]) == len(head["queries"]), head
                    for row in head["weights"]:
                        assert len(row) == len(head["keys"]), head
                        assert abs(sum(row) - 1) < 1e-4, row
                if name in ["gru", "transformer"]:
                    assert maps[0]["part"] == "answer_to_source", maps[0]
                    assert maps[0]["queries"] == answer["tokens"] + ["<eos>"], maps[0]
                    assert maps[0]["keys"] == line["source"].split(), maps[0]
                if name == "decoder_lm":
                    want = line["source"].split() + ["<bos>"] + answer["tokens"]
                    assert maps[0]["keys"] == want, (maps[0]["keys"], want)


def prompts():
    """--prompt continues a text beyond the model's places: by sampling, or greedily"""
    greedy = answers("text", "--prompt", "\nto be", "--beam", "1", "--max-length", "100")
    assert greedy.startswith("\nto be or not to be, that\tis it.\nto be or"), greedy
    assert len(greedy) == len("\nto be") + 100 + 1, greedy
    hot = ["--prompt", "to", "--temperature", "2"]
    assert answers("text", *hot) == answers("text", *hot)
    assert answers("text", *hot) != answers("text", *hot, "--seed", "7")
    drawn = answers("text", "--prompt", "to", "--top-k", "3")
    assert len(drawn) == len("to") + 500 + 1, len(drawn)
    long = "to be or not to be, that\tis it.\nto be"
    assert answers("text", "--prompt", long, "--beam", "1", "--max-length", "4") == long + " or \n"
    [line] = objects("text", "--prompt", "\nto be", "--beam", "1", "--max-length", "5", "--attention")
    assert line["answers"][0]["text"] == " or n", line
    assert line["answers"][0]["attention"][0]["keys"] == list("\nto be or "), line
    lines = answers("text", "--max-length", "12", text="that\nit.\n\nthat\tis it")
    assert lines == "\\tis it.\\nto b\n\\nto be or no\n\n.\\nto be\n", lines
    best = answers("text", "--prompt", "to b", "--beam", "3", "--n-best", "2", "--max-length", "5")
    assert {row[4] for row in rows(best)} == {"e or ", "e, th"}, best


def usage_errors():
    """B01 to B05: a mistake in the call is one line that names it, exit code 2, nothing on stdout"""
    for name, arguments, words in [
        ("gru", ["--nosuch"], ["--nosuch", "--help"]),
        ("gru", ["--beam"], ["--beam"]),
        ("gru", ["--beam", "0"], ["--beam", "'0'", "from 1"]),
        ("gru", ["--beam", "4x"], ["--beam", "4x"]),
        ("gru", ["--beam", "9" * 26], ["--beam", "9" * 26]),
        ("gru", ["--length-penalty", "nan", "--beam", "2"], ["--length-penalty", "nan"]),
        ("gru", ["--sample", "--temperature", "0"], ["--temperature", "'0'"]),
        ("gru", ["--sample", "--top-p", "1.5"], ["--top-p", "1.5"]),
        ("gru", ["--sample", "--beam", "2"], ["--sample", "--beam"]),
        ("gru", ["--sample", "--exhaustive"], ["--sample", "--exhaustive"]),
        ("gru", ["--exhaustive", "--beam", "2"], ["--exhaustive", "--beam"]),
        ("gru", ["--exhaustive"], ["--exhaustive", "--max-length"]),
        ("gru", ["--exhaustive", "--max-length", "40"], ["max_length 40", "1000000"]),
        ("gru", ["--n-best", "2"], ["--n-best", "--beam"]),
        ("gru", ["--n-best", "5", "--beam", "4"], ["--n-best 5", "--beam 4"]),
        ("gru", ["--length-penalty", "1"], ["--length-penalty", "--beam"]),
        ("gru", ["--temperature", "2"], ["--temperature", "--sample"]),
        ("gru", ["--seed", "2", "--beam", "2"], ["--seed", "--sample"]),
        ("gru", ["--attention"], ["--attention", "--json"]),
        ("gru", ["--min-length", "9", "--max-length", "8"], ["9", "8"]),
        ("gru", ["--prompt", "a", "--input", "b"], ["--prompt", "--input"]),
        ("gru", ["--prompt", "a"], ["--prompt", "not trained on text"]),
        ("text", ["--prompt", ""], ["--prompt", "empty"]),
        ("text", ["--prompt", b"a\xff"], ["--prompt", "byte 2"]),
        ("text", ["--prompt", "to be" * 5, "--beam", "2"], ["--prompt", "16 places"]),
        ("encoder", ["--beam", "2"], ["--beam", "blanks"]),
        ("encoder", ["--sample"], ["--sample", "blanks"]),
        ("encoder", ["--exhaustive", "--max-length", "2"], ["--exhaustive", "blanks"]),
        ("encoder", ["--min-length", "2"], ["--min-length", "blanks"]),
    ]:
        process = run(path(name), *arguments)
        assert process.returncode == 2, (arguments, process.returncode, process.err)
        assert process.err.startswith("decode: ") and process.err.count("\n") == 1, process.err
        assert all(word in process.err for word in words), (arguments, process.err)
        assert process.out == "", (arguments, process.out)
    process = subprocess.run([DECODE], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.returncode == 2 and "--checkpoint" in process.stderr, process.stderr


def fails(model, words, *arguments):
    process = run(model, *arguments)
    assert process.returncode == 1, (model, arguments, process.returncode, process.err)
    assert process.err.startswith("decode: ") and process.err.count("\n") == 1, process.err
    assert all(word in process.err for word in words), (model, arguments, process.err)
    assert process.out == "", (arguments, process.out)


def file_errors():
    """B06: a file that cannot be used is one line with its path and the cause, exit code 1"""
    os.mkdir(path("empty"))
    fails(path("none"), [path("none"), "No such file"])
    fails(path("empty"), [path("empty/model.safetensors"), "No such file"])
    fails("", ["--checkpoint", "empty"])
    fails(path("text.txt"), [path("text.txt")])
    fails(path("gru/last.safetensors"), [path("gru/last.safetensors")])
    fails(path("gru"), [path("none"), "No such file"], "--input", path("none"))
    fails(path("gru"), [path("empty"), "Is a directory"], "--input", path("empty"))
    fails(path("gru"), ["''", "No such file"], "--input", "")


def broken_checkpoints():
    """B14, B15, B16: a checkpoint that is cut, or says what is not so, is refused in one line"""
    with open(path("gru/model.safetensors"), "rb") as file:
        good = file.read()
    header_end = 8 + int.from_bytes(good[:8], "little")
    cuts = [*range(0, 12), *range(12, header_end, header_end // 12), header_end - 1, header_end,
            header_end + 1, len(good) - 1]
    for cut in cuts:
        fails(write("cut", good[:cut]), [path("cut")])
    for size in [0, 100_000_001, 2 ** 64 - 1]:
        fails(write("size", size.to_bytes(8, "little") + good[8:]), [path("size")])
    for old, new in [(b'"rnn_seq2seq"', b'"rnn_seq2sex"'), (b'config.hidden_size":"32"',
                     b'config.hidden_size":"48"'), (b'config.cell":"gru"', b'config.cell":"rnn"'),
                     (b'generator.bias', b'generator.biax'), (b'source_vocabulary', b'source_vocabularx'),
                     (b'\\"a\\",', b'\\"b\\",'), (b'\\"a\\",', b'      '), (b'config.dropout', b'config.dropoux')]:
        assert good.count(old) > 0, old
        fails(write("changed", good.replace(old, new)), [path("changed")])


def output_that_cannot_be_written():
    """B08, B09: a full disk is an error; a reader that has enough ends the program quietly"""
    with open("/dev/full", "w") as full:
        process = run(path("gru"), stdout=full)
    assert process.returncode == 1 and "No space left on device" in process.err, process.err
    many = write("many.txt", "a b c d e\n" * 20000)
    process = subprocess.run(["bash", "-c", 'set -o pipefail; "$0" --checkpoint "$1" --input "$2" | '
                              'head -n 1', DECODE, path("gru"), many], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, timeout=120)
    assert process.stdout == "e d c b a\n" and process.stderr == "", process.stderr
    assert process.returncode in (0, 141), process.returncode


def answers_as_it_reads():
    """an answer does not wait for lines beyond its batch"""
    process = subprocess.Popen([DECODE, "--checkpoint", path("gru"), "--batch-size", "1"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    for source, answer in [("a b", "b a\n"), ("c d e", "e d c\n")]:
        process.stdin.write(source + "\n")
        process.stdin.flush()
        ready = select.select([process.stdout], [], [], 30)[0]
        if not ready:
            process.kill()
        assert ready and process.stdout.readline() == answer
    process.stdin.close()
    assert process.stdout.read() == "" and process.wait(timeout=60) == 0


def weights_of_others():
    """real weights: g2p-gru pronounces twelve words, gpt-nano-sort sorts"""
    folders = [os.environ.get("GRADZOO_WEIGHTS_DIR", ""), os.path.join(ROOT, "..", "shared", "weights"),
               os.path.join(ROOT, "shared", "weights")]
    here = [folder for folder in folders if os.path.exists(os.path.join(folder, "g2p-gru.safetensors"))]
    if not here:
        print("skipped: no g2p-gru.safetensors in GRADZOO_WEIGHTS_DIR or shared/weights")
        return
    with open(os.path.join(here[0], "g2p-gru-expected.json")) as file:
        words = json.load(file)
    process = run(os.path.join(here[0], "g2p-gru.safetensors"), text="\n".join(words))
    assert process.out.splitlines() == list(words.values()), process.out
    process = run(os.path.join(here[0], "gpt-nano-sort.safetensors"), "--json", "--attention",
                  text="2 1 0 0 1 2\n0 2 1 2 2 2\n")
    found = [json.loads(line)["answers"][0] for line in process.out.splitlines()]
    assert [answer["text"] for answer in found] == ["0 0 1 1 2 2", "0 1 2 2 2 2"], found
    assert found[0]["attention"][0]["keys"] == "2 1 0 0 1 2 0 0 1 1 2".split(), found


def version_and_help():
    """--help lists the options, --version the version; both exit 0"""
    for option in ["--help", "--version"]:
        process = subprocess.run([DECODE, option], stdout=subprocess.PIPE, text=True, check=True)
        assert process.stdout, option
    for option in ["--checkpoint", "--beam", "--n-best", "--prompt", "--attention"]:
        assert option in subprocess.run([DECODE, "--help"], stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    train_all()
    sys.exit(run_cases([
        one_line_for_each, where_from_and_where_to, bad_lines, unknown_tokens, searches, lengths,
        samples, json_says_it_all, prompts, usage_errors, file_errors, broken_checkpoints,
        output_that_cannot_be_written, answers_as_it_reads, weights_of_others, version_and_help
    ]))

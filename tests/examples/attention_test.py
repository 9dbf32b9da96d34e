"""What a GRU with additive attention looks at, read from decode's JSON: to copy, along the diagonal;
to reverse, along the other one.

usage: attention_test.py TRAIN DECODE
"""

import json
import random
import subprocess
import sys
import tempfile

from cases import run_cases

TRAIN, DECODE = sys.argv[1:]
SOURCES = 200
EXACT = 0.99    # of the sources are answered right
NEAR = 0.95     # of the steps look at most one place from where the token is that they write


def answers(task):
    """Trains a model; sources of 10 to 20 symbols and decode's answers to them."""
    rng = random.Random(1)
    sources = [[rng.choice("abcdefghijklmnopqrst") for _ in range(rng.randint(10, 20))]
               for _ in range(SOURCES)]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([TRAIN, "--model", "gru", "--task", task, "--steps", "1500",
                        "--out", folder + "/run"],
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=True, timeout=900)
        process = subprocess.run([DECODE, "--checkpoint", folder + "/run", "--json", "--attention"],
                                 input="".join(" ".join(source) + "\n" for source in sources),
                                 stdout=subprocess.PIPE, text=True, check=True, timeout=300)
    lines = [json.loads(line) for line in process.stdout.splitlines()]
    assert len(lines) == SOURCES
    return sources, [line["answers"][0] for line in lines]


def looks(task, order):
    """Of all steps that write a token: how many look near its place; and how many answers are right."""
    sources, found = answers(task)
    near = steps = exact = 0
    for source, answer in zip(sources, found):
        exact += answer["tokens"] == order(source)
        [head] = answer["attention"]
        assert head["keys"] == source and head["queries"][:-1] == answer["tokens"], head
        for row, place in zip(head["weights"], order(list(range(len(source))))):
            near += abs(row.index(max(row)) - place) <= 1
            steps += 1
    print(f"{task}: {100 * near / steps:.1f} % of {steps} steps near the place, "
          f"{100 * exact / SOURCES:.1f} % of {SOURCES} answers right")
    assert exact >= EXACT * SOURCES, exact
    assert near >= NEAR * steps, near


def copies():
    """copy: 95 % of the weights' maxima are within one place of the diagonal"""
    looks("copy", lambda tokens: tokens)


def reverses():
    """reverse: 95 % of the weights' maxima are within one place of the anti-diagonal"""
    looks("reverse", lambda tokens: tokens[::-1])


if __name__ == "__main__":
    sys.exit(run_cases([copies, reverses]))

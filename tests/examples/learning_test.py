"""What the models learn with default seeds, measured: tasks to the end, the bottleneck, the alignment.

usage: learning_test.py TRAIN

The seconds are for 2 cores that have nothing else to do, doubled.
"""

import json
import subprocess
import sys

# Arguments of train, the exact match wanted of 1,000 held-out sequences, seconds of training.
CASES = [
    (["--task", "copy"], 0.995, 120),
    (["--task", "reverse"], 0.995, 120),
    (["--task", "sort"], 0.98, 120),
    (["--task", "add", "--shortest", "3", "--steps", "2500"], 0.98, 120),
    (["--model", "gru", "--attention", "additive"], 0.995, 240),
    (["--model", "gru", "--attention", "dot"], 0.995, 240),
    (["--model", "gru", "--attention", "general"], 0.995, 240),
]
# The fixed-vector bottleneck: as many steps without attention, and length 20 alone.
BOTTLENECK = ["--model", "gru", "--attention", "none"]
BOTTLENECK_MATCH = 0.3


def result_of(arguments):
    process = subprocess.run([sys.argv[1], *arguments, "--json"], stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                             timeout=900)
    return json.loads(process.stdout.splitlines()[-1]) if process.returncode == 0 else {}


def main():
    passed = failed = 0

    def count(ok, line):
        nonlocal passed, failed
        print(("ok      " if ok else "FAILED  ") + line, flush=True)
        passed += ok
        failed += not ok

    for arguments, wanted, seconds in CASES:
        result = result_of(arguments)
        match, took = result.get("exact_match", 0), result.get("seconds", 1e9)
        count(match >= wanted and took < seconds,
              f"train {' '.join(arguments)}: {100 * match:.1f} % exactly right after {took:.1f} s, "
              f"wanted {100 * wanted:.1f} % within {seconds} s")
    match = result_of(BOTTLENECK).get("exact_match_longest", 1)
    count(match < BOTTLENECK_MATCH,
          f"train {' '.join(BOTTLENECK)}: {100 * match:.1f} % of the longest exactly right, "
          f"must stay under {100 * BOTTLENECK_MATCH:.0f} %")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

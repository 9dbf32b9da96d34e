"""What the models learn with default seeds, measured: tasks to the end, the bottleneck, the alignment.

usage: learning_test.py TRAIN SOURCE

The seconds leave room for cores that are shared with other programs.
"""

import json
import os
import subprocess
import sys

# Arguments of train, the exact match wanted of 1,000 held-out sequences, seconds of training.
CASES = [
    (["--task", "copy"], 0.995, 90),
    (["--task", "reverse"], 0.995, 90),
    (["--task", "sort"], 0.98, 120),
    (["--task", "add", "--shortest", "3", "--steps", "2500"], 0.98, 120),
    (["--model", "gru", "--attention", "additive"], 0.995, 120),
    (["--model", "gru", "--attention", "dot"], 0.995, 120),
    (["--model", "gru", "--attention", "general"], 0.995, 120),
]
# The fixed-vector bottleneck: as many steps without attention, and length 20 alone.
BOTTLENECK = ["--model", "gru", "--attention", "none"]
BOTTLENECK_MATCH = 0.3


# nanoGPT's recipe for a processor (characters of Shakespeare; published: 1.88 nats).
SHAKESPEARE = ["--model", "decoder_lm", "--num-layers", "4", "--num-heads", "4", "--d-model", "128",
               "--d-ff", "512", "--context", "64", "--batch-size", "12", "--steps", "2000",
               "--optimizer", "adamw", "--lr", "1e-3", "--lr-floor", "0.1", "--warmup-steps", "100",
               "--beta2", "0.99", "--weight-decay", "0.1"]
SHAKESPEARE_LOSS = 1.93


def shakespeare(source):
    """The text, which is no part of this repository; None where it is not."""
    given = os.environ.get("GRADZOO_DATA_DIR")
    folders = [given] if given else [os.path.join(source, "..", "shared", "data"),
                                     os.path.join(source, "shared", "data")]
    paths = [os.path.join(folder, "tinyshakespeare.txt") for folder in folders]
    return next((path for path in paths if os.path.exists(path)), None)


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
    text = shakespeare(sys.argv[2])
    if text is None:
        print("skipped: no tinyshakespeare.txt in GRADZOO_DATA_DIR or shared/data")
    else:
        loss = result_of([*SHAKESPEARE, "--text", text]).get("valid_loss", 1e9)
        count(loss <= SHAKESPEARE_LOSS,
              f"nanoGPT's recipe on Shakespeare: {loss:.4f} nats a character held out, "
              f"wanted {SHAKESPEARE_LOSS}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

"""The first job, measured: with the default seed a Transformer learns to copy and to reverse.

usage: learning_test.py PROGRAM
"""

import json
import subprocess
import sys

EXACT_MATCH = 0.995  # of 1,000 held-out sequences of 10 to 20 symbols
SECONDS = 90         # of training, on 2 cores


def main():
    passed = failed = 0
    for task in ["copy", "reverse"]:
        process = subprocess.run([sys.argv[1], "--task", task, "--json"], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, text=True, timeout=600)
        result = json.loads(process.stdout.splitlines()[-1]) if process.returncode == 0 else {}
        ok = (result.get("exact_match", 0) >= EXACT_MATCH and result.get("seconds", 1e9) < SECONDS)
        print(f"{'ok      ' if ok else 'FAILED  '}{task}: {100 * result.get('exact_match', 0):.1f} % "
              f"exactly right after {result.get('seconds', 0):.1f} s, "
              f"wanted {100 * EXACT_MATCH} % within {SECONDS} s")
        passed += ok
        failed += not ok
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

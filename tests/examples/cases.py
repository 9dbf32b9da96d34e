"""Running the cases of a script test: functions whose docstrings say what must hold."""

import os
import pty


class Skipped(Exception):
    """What a case needs is not here."""


def open_terminal():
    """Both ends of a new pseudo-terminal."""
    try:
        return pty.openpty()
    except OSError as error:
        raise Skipped(f"no pseudo-terminals here ({error})") from error


def read_to_end(main):
    """What a program writes to its end of a pseudo-terminal until it has gone; closes ours."""
    output = b""
    try:
        while part := os.read(main, 65536):
            output += part
    except OSError:  # how a terminal says that the program has gone
        pass
    os.close(main)
    return output


def run_cases(cases):
    """Runs all of them, whatever happens in one; prints a line each and the total. 1 if any failed."""
    passed = failed = 0
    for case in cases:
        try:
            case()
            passed += 1
            print("ok      " + case.__doc__)
        except Skipped as reason:
            print(f"skipped: {case.__doc__}: {reason}")
        except Exception as error:
            failed += 1
            print(f"FAILED  {case.__doc__}\n        {type(error).__name__}: {error}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0

"""Running the cases of a script test: functions whose docstrings say what must hold."""


def run_cases(cases):
    """Runs all of them, whatever happens in one; prints a line each and the total. 1 if any failed."""
    passed = failed = 0
    for case in cases:
        try:
            case()
            passed += 1
            print("ok      " + case.__doc__)
        except Exception as error:
            failed += 1
            print(f"FAILED  {case.__doc__}\n        {type(error).__name__}: {error}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0

"""step_through on a terminal: keys and what they show, other sizes, signals, poor terminals.

usage: step_on_terminal_test.py PROGRAM
"""

import os
import re
import signal
import subprocess
import sys

from cases import open_terminal, read_to_end, run_cases
from virtual_terminal import Session

PROGRAM = sys.argv[1]
RIGHT, LEFT, HOME, END = "\x1bOC", "\x1bOD", "\x1bOH", "\x1bOF"
PAGE_UP, PAGE_DOWN, UP, DOWN = "\x1b[5~", "\x1b[6~", "\x1bOA", "\x1bOB"


def plain(lesson):
    """All of its steps as text."""
    process = subprocess.run([PROGRAM, "--plain", lesson], stdin=subprocess.DEVNULL,
                             capture_output=True, text=True, timeout=120)
    assert process.returncode == 0, process.stderr
    return process.stdout


def on_terminal(*arguments, columns=80, rows=24, **env):
    return Session([PROGRAM, *arguments], columns, rows, **env)


def position(screen):
    """The step that is shown and how many there are."""
    found = re.search(r"step (\d+) of (\d+)", screen.lines()[0])
    return (int(found[1]), int(found[2])) if found else None


def at(session, step):
    """Waits until that step is shown; the screen."""
    return session.wait(lambda screen: (position(screen) or (0, 0))[0] == step, f"step {step}")


def quit_well(session):
    session.press("q")
    assert session.end() == 0, session.process.returncode
    assert session.left_as_it_was(), session.screen.modes


def steps_to_the_end():
    """every key for it leads to the next step, up to the last and no further"""
    with on_terminal("1") as session:
        count = position(at(session, 1))[1]
        assert 8 < count < 100, count
        for step in range(2, count + 1):
            session.press(["n", " ", RIGHT, "\r"][step % 4])
            at(session, step)
        session.press("n")
        session.shows("this is the last step")
        assert position(session.screen) == (count, count)
        for step, key in zip(range(count - 1, 1, -1), ["p", LEFT, "\x7f"] * count):
            session.press(key)
            at(session, step)
        session.press(HOME)
        at(session, 1)
        session.press("p")
        session.shows("this is the first step")
        session.press(END)
        at(session, count)
        quit_well(session)


def jumps():
    """b and f go to the backward and the forward part, g to a step by its number"""
    with on_terminal("1") as session:
        count = position(at(session, 1))[1]
        session.press("b")
        first_line = session.wait(lambda s: "backward" in s.lines()[0], "backward").lines()[0]
        backward = position(session.screen)[0]
        assert 2 < backward < count, first_line
        session.press("p")
        assert "forward" in at(session, backward - 1).lines()[0], session.screen.text()
        session.press("nf")
        assert "forward" in session.wait(
            lambda s: 1 < position(s)[0] < backward - 1, "the forward part").lines()[0]
        session.press(f"g{count}\r")
        at(session, count)
        session.press("g2")
        session.shows("go to step 2")
        session.press("\r")
        at(session, 2)
        for wrong in ["0", str(count + 1), "x"]:
            session.press(f"g{wrong}\r")
            session.shows(f"there is no step {wrong}: 1 to {count}")
            assert position(session.screen)[0] == 2
        quit_well(session)


def checks():
    """c compares every step with central differences, and any key leads back"""
    with on_terminal("1") as session:
        at(session, 1)
        session.press("c")
        text = session.shows("every step is right").text()
        assert "WRONG" not in text and len(re.findall(r"step \d+ .* right  %\d+ = ", text)) > 5, text
        session.press("c")
        at(session, 1)
        quit_well(session)


def helps_with_keys():
    """? and h show the keys"""
    with on_terminal("1") as session:
        at(session, 1)
        for key in "?h":
            session.press(key)
            session.shows("the next step")
            session.press("n")
            session.wait(lambda s: "the next step" not in s.text(), "the step again")
            assert position(session.screen)[0] == 1
        quit_well(session)


def same_as_plain():
    """what is shown of a step on 80 columns is what --plain prints of it"""
    printed = [line.strip() for line in plain("1").splitlines()]
    with on_terminal("1", rows=24) as session:
        count = position(at(session, 1))[1]
        for step in range(1, count + 1):
            session.press(f"g{step}\r")
            title, *lines = [line.strip() for line in at(session, step).lines()[2:-1] if line.strip()]
            missing = [line for line in lines if line not in printed]
            assert lines and not missing, (step, missing)
            heading = next(line for line in printed if line.startswith(f"step {step} of {count}: "))
            assert heading.endswith(title), (heading, title)
        quit_well(session)


def resizes():
    """a window of another size is filled anew, down to 40x10; below it says so, and recovers"""
    with on_terminal("1", columns=132, rows=50, COLUMNS="70", LINES="20") as session:
        count = position(at(session, 1))[1]
        session.press(f"g{count // 2}\r")
        at(session, count // 2)
        for columns, rows in [(80, 24), (40, 10), (200, 60), (40, 10)]:
            session.resize(columns, rows)
            lines = at(session, count // 2).lines()
            assert lines[-1].endswith("quit") or "q" in lines[-1], lines
            assert len(lines) == rows
        session.press("n")
        at(session, count // 2 + 1)
        for columns, rows in [(39, 10), (40, 9), (12, 3), (1, 1)]:
            session.resize(columns, rows)
            session.wait(lambda s: s.text().strip().startswith("too small"[:s.columns]), "too small")
        session.resize(80, 24)
        at(session, count // 2 + 1)
        quit_well(session)


def scrolls():
    """a card that is taller than the terminal is scrolled, to its last line and no further"""
    with on_terminal("1", columns=40, rows=60) as session:
        at(session, 1)
        session.press("b")
        session.wait(lambda s: "backward" in s.lines()[0], "backward")
        whole = [line for line in session.screen.lines()[2:-1]]
        while whole and not whole[-1]:
            whole.pop()
        room = 10 - 3
        assert len(whole) > room + 2, whole
        session.resize(40, 10)
        top = session.shows(f"1-{room}/{len(whole)}").lines()[2:-1]
        assert top == whole[:room], (top, whole)
        session.press("j" + DOWN)
        session.shows(f"3-{room + 2}/{len(whole)}")
        assert session.screen.lines()[2:-1] == whole[2:room + 2]
        session.press("k" + UP + "k")
        session.shows(f"1-{room}/{len(whole)}")
        session.press(PAGE_DOWN * 20)
        session.shows(f"{len(whole) - room + 1}-{len(whole)}/{len(whole)}")
        assert session.screen.lines()[2:-1] == whole[-room:]
        session.press(PAGE_UP * 20)
        session.shows(f"1-{room}/{len(whole)}")
        quit_well(session)


def stops_politely():
    """Ctrl-C, SIGINT and SIGTERM put the terminal back; exit codes 130 and 143"""
    for stop, code in [(lambda s: s.press("\x03"), 130),
                       (lambda s: s.process.send_signal(signal.SIGINT), 130),
                       (lambda s: s.process.send_signal(signal.SIGTERM), 143),
                       (lambda s: [s.process.send_signal(signal.SIGTERM) for _ in "ab"], 143)]:
        with on_terminal("1") as session:
            at(session, 1)
            assert "1049" in session.screen.modes  # the second screen, which keeps the first
            stop(session)
            assert session.end() == code, session.process.returncode
            assert session.left_as_it_was(), session.screen.modes


def the_terminal_goes():
    """a terminal that is closed ends the program, even if it does not heed the signal for that"""
    for command in [[PROGRAM, "1"], ["sh", "-c", "trap '' HUP; exec \"$0\" 1", PROGRAM]]:
        with Session(command) as session:
            at(session, 1)
            session.hang_up()
            session.process.wait(timeout=30)


def colours():
    """colours, but not under NO_COLOR"""
    for env, colored in [({}, True), ({"NO_COLOR": "1"}, False)]:
        with on_terminal("1", **env) as session:
            at(session, 1)
            session.press("b")
            session.wait(lambda s: "backward" in s.lines()[0], "backward")
            assert session.screen.colored == colored, env
            quit_well(session)


def poor_terminals():
    """a terminal that can only print gets all steps, and one line saying why"""
    printed = [line for line in plain("1").splitlines() if line]
    for name in ["dumb", "no-such-terminal"]:
        with on_terminal("1", TERM=name, columns=100, rows=500) as session:
            assert session.end() == 0
            lines = session.screen.lines()
            assert "step_through: " in lines[0] and "TERM" in lines[0], lines[0]
            shown = [line for line in lines[1:] if line]
            assert shown == printed, lines[:5]


def without_keys():
    """output on a terminal but no keys: all steps are printed, and one line says why"""
    main, side = open_terminal()
    process = subprocess.Popen([PROGRAM, "1"], stdin=subprocess.DEVNULL, stdout=side,
                               stderr=subprocess.PIPE, text=True,
                               env={**os.environ, "TERM": "xterm", "NO_COLOR": "1"})
    os.close(side)
    output = read_to_end(main)
    errors = process.communicate(timeout=60)[1]
    assert process.returncode == 0 and errors.count("\n") == 1, errors
    assert "standard input is no terminal" in errors, errors
    assert output.decode().replace("\r", "") == plain("1"), output[:500]


def other_terminals():
    """terminals of other kinds show the same"""
    for name in ["xterm-256color", "screen", "tmux", "vt100", "linux"]:
        with on_terminal("1", TERM=name) as session:
            at(session, 1)
            session.press("b")
            other = session.wait(lambda s: "backward" in s.lines()[0], "backward").text()
            quit_well(session)
        with on_terminal("1") as session:
            at(session, 1)
            session.press("b")
            usual = session.wait(lambda s: "backward" in s.lines()[0], "backward").text()
            assert other == usual, (name, other)


def other_locales():
    """signs beyond ASCII are shown whatever the locale says"""
    for locale in ["C", "C.UTF-8", "xx_XX"]:
        with on_terminal("1", LC_ALL=locale) as session:
            screen = at(session, 1)
            assert "█" in screen.lines()[1] and "░" in screen.lines()[1], screen.text()
            quit_well(session)


if __name__ == "__main__":
    sys.exit(run_cases([
        steps_to_the_end, jumps, checks, helps_with_keys, same_as_plain, resizes, scrolls,
        stops_politely, the_terminal_goes, colours, poor_terminals, without_keys, other_terminals, other_locales
    ]))

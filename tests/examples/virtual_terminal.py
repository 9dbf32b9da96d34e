"""A program on a terminal that is watched: keys go in, what the screen shows comes out."""

import fcntl
import os
import re
import select
import struct
import subprocess
import termios
import time
import unicodedata

from cases import open_terminal

SEQUENCE = re.compile(r"\x1b(?:\[([?>!]?)([0-9;]*)([@-~])|([()])(.)|([=>78MHg]))")


def width_of(character):
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


class Screen:
    """The cells an xterm would show, as far as curses makes use of one. A sequence that is not
    known here is an error, so that nothing is shown wrong in silence."""

    def __init__(self, columns, rows):
        self.columns, self.rows = columns, rows
        self.cells = [[" "] * columns for _ in range(rows)]
        self.row = self.column = 0
        self.top, self.bottom = 0, rows - 1  # margins, between which lines move
        self.modes = {"7", "25"}  # of DEC, those that are on: lines wrap, the cursor is seen
        self.colored = False    # was there any colour?
        self.inserting = False  # what is written moves what is there
        self.last = " "
        self.rest = ""

    def lines(self):
        return ["".join(row).rstrip() for row in self.cells]

    def text(self):
        return "\n".join(self.lines())

    def feed(self, text):
        text = self.rest + text
        self.rest = ""
        at = 0
        while at < len(text):
            if text[at] == "\x1b":
                found = SEQUENCE.match(text, at)
                if not found:
                    self.rest = text[at:]  # the end of it is still to come
                    assert len(self.rest) < 30, f"unknown sequence {self.rest!r}"
                    return
                at = found.end()
                self.sequence(found)
            else:
                self.put(text[at])
                at += 1

    def put(self, character):
        if character == "\r":
            self.column = 0
        elif character == "\n":
            self.line_feed()
        elif character == "\b":
            self.column = max(self.column - 1, 0)
        elif character == "\t":
            self.column = min(self.column // 8 * 8 + 8, self.columns - 1)
        elif character >= " ":
            width = width_of(character)
            if width == 0:
                self.cells[self.row][max(self.column - 1, 0)] += character
                return
            if self.column + width > self.columns:
                self.column = 0
                self.line_feed()
            row, self.last = self.cells[self.row], character
            if self.inserting:
                row[self.column:self.column] = [" "] * width
                del row[self.columns:]
            row[self.column:self.column + width] = [character, ""][:width]
            self.column += width

    def line_feed(self):
        if self.row == self.bottom:
            self.move_lines(self.top, -1)
        else:
            self.row = min(self.row + 1, self.rows - 1)

    def move_lines(self, first, count):
        """Moves the lines from `first` to the bottom margin down, or up."""
        for _ in range(abs(count)):
            gone, new = (self.bottom, first) if count > 0 else (first, self.bottom)
            del self.cells[gone]
            self.cells.insert(new, [" "] * self.columns)

    def sequence(self, found):
        if found[6] == "M":
            assert self.row == self.top, "moving the lines down from within"
            self.move_lines(self.top, 1)
            return
        private, numbers, final = found[1], found[2], found[3]
        if final is None or final in "lht" or private in (">", "!") or private and final == "c":  # modes
            for mode in numbers.split(";") if private == "?" and final in "hl" else []:
                (self.modes.add if final == "h" else self.modes.discard)(mode)
            if private == "" and numbers == "4":
                self.inserting = final == "h"
            return
        numbers = [int(n) if n else 0 for n in numbers.split(";")]
        n = max(numbers[0], 1)
        line = self.cells[self.row]
        at = min(self.column, self.columns - 1)
        if final in "Hf":
            self.row = min(n, self.rows) - 1
            self.column = min(max(numbers[1] if len(numbers) > 1 else 1, 1), self.columns) - 1
        elif final == "d":
            self.row = min(n, self.rows) - 1
        elif final == "G":
            self.column = min(n, self.columns) - 1
        elif final == "A":
            self.row = max(self.row - n, 0)
        elif final == "B":
            self.row = min(self.row + n, self.rows - 1)
        elif final == "C":
            self.column = min(self.column + n, self.columns - 1)
        elif final == "D":
            self.column = max(self.column - n, 0)
        elif final == "J":
            assert numbers[0] in (0, 2), numbers
            if numbers[0] == 2:
                self.cells = [[" "] * self.columns for _ in range(self.rows)]
            else:
                line[at:] = [" "] * (self.columns - at)
                for row in range(self.row + 1, self.rows):
                    self.cells[row] = [" "] * self.columns
        elif final == "K":
            first, last = (0, at + 1) if numbers[0] == 1 else (at, self.columns)
            line[first:last] = [" "] * (last - first)
        elif final == "X":
            last = min(at + n, self.columns)
            line[at:last] = [" "] * (last - at)
        elif final == "P":
            self.cells[self.row] = (line[:at] + line[at + n:] + [" "] * self.columns)[:self.columns]
        elif final == "@":
            self.cells[self.row] = (line[:at] + [" "] * n + line[at:])[:self.columns]
        elif final == "b":
            for _ in range(n):
                self.put(self.last)
        elif final == "m":
            self.colored |= any(30 <= number <= 37 or number == 38 for number in numbers)
        elif final == "r":
            self.top = n - 1
            self.bottom = min(numbers[1] if len(numbers) > 1 else self.rows, self.rows) - 1
            self.row = self.column = 0
        elif final in "LM":
            self.move_lines(self.row, n if final == "L" else -n)
        elif final in "ST":
            self.move_lines(self.top, n if final == "T" else -n)
        else:
            raise AssertionError(f"unknown sequence {found[0]!r}")


class Session:
    """A program whose terminal this is, for the length of a `with`."""

    def __init__(self, command, columns=80, rows=24, **env):
        self.main, self.side = open_terminal()
        self.screen = Screen(columns, rows)
        self.set_size(columns, rows)
        self.attributes = termios.tcgetattr(self.side)
        full = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "LINES", "COLUMNS")}
        self.process = subprocess.Popen(
            command, stdin=self.side, stdout=self.side, stderr=self.side, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            env={**full, "TERM": "xterm", **env})
        self.bytes = b""
        self.ended = False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.hang_up()

    def hang_up(self):
        """Closes the terminal."""
        for end in self.main, self.side:
            if end is not None:
                os.close(end)
        self.main = self.side = None

    def set_size(self, columns, rows):
        fcntl.ioctl(self.side, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def resize(self, columns, rows):
        """What a terminal does when its window changes: the new size, and the signal for it."""
        while self.read(0.2):
            pass
        before, self.screen = self.screen, Screen(columns, rows)
        self.screen.modes, self.screen.colored = before.modes, before.colored
        self.set_size(columns, rows)

    def press(self, keys):
        os.write(self.main, keys.encode())

    def read(self, seconds):
        """Takes in what the program sends within that time; True when something came."""
        if not select.select([self.main], [], [], seconds)[0]:
            return False
        part = os.read(self.main, 65536)
        self.bytes += part
        whole = len(self.bytes) - unfinished(self.bytes)
        self.screen.feed(self.bytes[:whole].decode())
        self.bytes = self.bytes[whole:]
        return True

    def wait(self, condition, what, seconds=30):
        """Reads until condition(screen) holds; the screen is then as the program left it."""
        end = time.monotonic() + seconds
        while True:
            if self.read(0.1):
                continue  # it is still drawing
            if condition(self.screen):
                return self.screen
            assert self.process.poll() is None, f"ended while waiting for {what}:\n{self.screen.text()}"
            assert time.monotonic() < end, f"no {what} in\n{self.screen.text()}"

    def shows(self, text):
        return self.wait(lambda screen: text in screen.text(), repr(text))

    def end(self, seconds=30):
        """Waits for the program to end: its exit code."""
        end = time.monotonic() + seconds
        while self.process.poll() is None:
            assert time.monotonic() < end, "it does not end:\n" + self.screen.text()
            self.read(0.05)
        while self.read(0.05):
            pass
        return self.process.returncode

    def left_as_it_was(self):
        """Are the modes of the terminal those from before, the first screen and a cursor shown?"""
        return termios.tcgetattr(self.side) == self.attributes and self.screen.modes == {"7", "25"}


def unfinished(data):
    """How many bytes at the end are the beginning of a character."""
    for count in range(1, min(4, len(data)) + 1):
        byte = data[-count]
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return count if count < length else 0
        if byte < 0x80:
            return 0
    return 0

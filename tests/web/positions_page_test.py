"""The page of sinusoidal positions in a browser: every number is the engine's own.

usage: positions_page_test.py POSITIONS
"""

import json
import os
import re
import subprocess
import sys
import tempfile

from browser import Browser
from cases import run_cases

POSITIONS = sys.argv[1]


def run(*arguments):
    process = subprocess.run([POSITIONS, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                             text=True, timeout=60)
    assert process.returncode == 0, process.stderr
    return process.stdout


def keys():
    from selenium.webdriver.common.keys import Keys
    return Keys


def near(text, value):
    return abs(float(text) - value) <= 1e-4 * abs(value) + 1e-6


def check_map(browser, name, matrix):
    """Goes through a heat map with the arrow keys, down the diagonal and beyond its end."""
    browser.run(f"document.querySelector('.{name} .heatmap').focus()")
    for place in range(max(len(matrix), len(matrix[0])) + 1):
        row, column = min(place, len(matrix) - 1), min(place, len(matrix[0]) - 1)
        browser.press(keys().ARROW_DOWN, keys().ARROW_RIGHT) if place else None
        words = browser.run(f"return document.querySelector('.{name} .reading').textContent")
        if not place:
            continue
        cell = [int(number) for number in re.findall(r"\d+", words.split(":")[0])]
        assert cell == [row, column], (name, words, place)
        assert near(words.split(": ")[1], matrix[row][column]), (name, words, matrix[row][column])


def shows_the_numbers():
    """what is pointed at in both maps and on the curve is what the engine computed"""
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        for length, width in [(9, 6), (5, 7)]:
            size = ["--length", str(length), "--d-model", str(width)]
            path = os.path.join(folder, "page.html")
            run(*size, "--format", "html", "--out", path)
            data = json.loads(run(*size, "--format", "json"))
            browser.open(path)
            check_map(browser, "encoding", data["encoding"])
            check_map(browser, "products", data["products"])
            browser.run("document.querySelector('.chart').focus()")
            browser.press(keys().HOME)
            for distance in range(length):
                words = browser.run("return document.querySelector('.chart-readout').textContent")
                at, value = re.fullmatch(r"distance (\d+): dot product (\S+)", words).groups()
                assert int(at) == distance and near(value, data["products"][0][distance]), words
                browser.press(keys().ARROW_RIGHT)
            words = browser.run("return document.querySelector('main').innerText")
            assert ("d / 2 = 3" in words) == (width == 6), words
            assert ("bends" in words) == (width == 7), words
        browser.check_fits()
        browser.check_quiet()


def sizes():
    """the smallest and the largest page open, at a phone's width too"""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "page.html")
        for view in [(1280, 800), (390, 800)]:
            with Browser(*view) as browser:
                for length, width in [(1, 1), (64, 64), (128, 1), (2, 4096), (300, 200)]:
                    run("--length", str(length), "--d-model", str(width), "--format", "html",
                        "--out", path)
                    browser.open(path)
                    browser.check_fits()
                    assert browser.run("return document.querySelectorAll('.heatmap').length") == 2
                browser.check_quiet()


if __name__ == "__main__":
    sys.exit(run_cases([shows_the_numbers, sizes]))

"""The heat map of the pages: colours, numbers, masked cells, pointing, outlines.

usage: heatmap_test.py ROOT
"""

import json
import os
import sys
import tempfile

from browser import Browser
from cases import run_cases

ROOT = sys.argv[1] if len(sys.argv) > 1 else "."


def read(name):
    with open(os.path.join(ROOT, "examples/web", name), encoding="utf-8") as file:
        return file.read()


class Drawn:
    """A page on which `script` is run: put(node) adds to it, seen is the list of cells pointed at."""

    def __init__(self, script, width=1280):
        self.browser = Browser(width=width)
        self.html = ("<!DOCTYPE html><meta charset='utf-8'><title>map</title><style>" + read("page.css") +
                     read("heatmap.css") + "</style><body><script>\"use strict\";\n" + read("dom.js") +
                     read("heatmap.js") + "const seen = [], put = (node) => document.body.append(node);" +
                     script + "</script>")

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        path = os.path.join(self.folder.name, "page.html")
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.html)
        self.browser.__enter__()
        self.browser.open(path)
        return self.browser

    def __exit__(self, *_):
        self.browser.check_quiet()
        self.browser.check_fits()
        self.browser.__exit__()
        self.folder.cleanup()


def texts(browser, selector):
    return browser.run("return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)",
                       selector)


def cells(browser, names=("fill", "fill-opacity")):
    return browser.run("""return [...document.querySelectorAll(".heat-cell")].map(
        (e) => arguments[0].map((name) => e.getAttribute(name)))""", names)


def diverging():
    """blue below zero, red above, the stronger the larger; zero has no colour"""
    with Drawn("put(heatmap([[-2, -1], [0, 4]]))") as browser:
        assert cells(browser) == [["var(--negative)", "0.500"], ["var(--negative)", "0.250"],
                                  ["var(--positive)", "0.000"], ["var(--positive)", "1.000"]]
        assert texts(browser, ".heat-number") == ["-2", "-1", "0", "4"]


def sequential():
    """one colour over a given range; beyond its ends the colour stays"""
    with Drawn("put(heatmap([[0, 0.25, 1, 2]], {scale: 'sequential', range: [0, 1]}))") as browser:
        assert [opacity for _, opacity in cells(browser)] == ["0.000", "0.250", "1.000", "1.000"]


def masked():
    """a masked cell is not a zero: its own colour, a stroke, no number"""
    with Drawn("put(heatmap([[0, null]]))") as browser:
        assert [colour for colour, _ in cells(browser)] == ["var(--positive)", "var(--masked)"]
        assert texts(browser, ".heat-number") == ["0"]
        assert len(texts(browser, ".heat-masked")) == 1


def not_finite():
    """NaN and infinities are written out and do not spoil the colours of the others"""
    with Drawn("put(heatmap([[1, 'nan', '-inf']]))") as browser:
        assert cells(browser) == [["var(--positive)", "1.000"], ["var(--odd)", "1.000"],
                                  ["var(--odd)", "1.000"]]
        assert texts(browser, ".heat-number") == ["1", "nan", "-inf"]


def large():
    """a large matrix is one picture, with as many labels as there is room for"""
    script = """const n = 64, row = (r) => [...Array(n).keys()].map((c) => r === c ? 1 : -1);
        put(heatmap([...Array(n).keys()].map(row), {rows: [...Array(n).keys()]}))"""
    with Drawn(script) as browser:
        assert cells(browser) == [] and len(texts(browser, ".heat-picture")) == 1
        labels = browser.run("return [...document.querySelectorAll('.heat-row')].map((e) => e.lastChild.data)")
        assert labels[:3] == ["0", "3", "6"], labels
        pixels = browser.run("""const image = document.querySelector(".heat-picture");
            const canvas = document.createElement("canvas"); canvas.width = canvas.height = 64;
            const picture = new Image(); picture.src = image.getAttribute("href");
            return picture.decode().then(() => { const context = canvas.getContext("2d");
              context.drawImage(picture, 0, 0);
              return [...context.getImageData(5, 5, 2, 1).data]; })""")
        assert pixels == [0xb2, 0x18, 0x2b, 255, 0x21, 0x66, 0xac, 255], pixels


def pointing():
    """mouse and arrow keys choose a cell, and leaving it is told"""
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    script = """put(heatmap([[1, 2, 3], [4, 5, 6]], {onpoint: (cell) => seen.push(cell)}));
        put(element("button", {}, "other"));
        document.addEventListener("keydown", (event) => seen.push(event.key))"""
    with Drawn(script) as browser:
        cell = browser.driver.find_elements(By.CSS_SELECTOR, ".heat-cell")[4]
        other = browser.driver.find_element(By.CSS_SELECTOR, "button")
        ActionChains(browser.driver).move_to_element(cell).move_to_element(other).perform()
        assert browser.run("return seen") == [[1, 1], None]
        browser.press(Keys.TAB, Keys.UP, Keys.UP, Keys.RIGHT, Keys.RIGHT, Keys.TAB)
        seen = browser.run("return seen")[2:]
        assert seen == ["Tab", [1, 1], [0, 1], [0, 2], "Tab", None], seen


def outlines():
    """outline() marks the cells of a list, and forgets those of the list before"""
    with Drawn("const map = heatmap([[1, 2], [3, 4]]); put(map);") as browser:
        marked = """map.outline(arguments[0]); return [...document.querySelectorAll(".heat-outline")].map(
            (e) => [e.dataset.row, e.dataset.column])"""
        assert browser.run(marked, [[0, 0], [0, 1]]) == [["0", "0"], ["0", "1"]]
        assert browser.run(marked, [[1, 0]]) == [["1", "0"]]
        assert browser.run(marked, []) == []


def labels_are_text():
    """VIS1, B18: labels are shown as typed, long ones shortened, and fit a phone"""
    odd = ["x<script>alert(1)</script>", "\"&'", "<!--#exec"]
    labels = json.dumps(odd).replace("<", "\\u003c")
    script = f"put(heatmap([[1, 2, 3], [4, 5, 6], [7, 8, 9]], {{rows: {labels}, columns: {labels}}}))"
    with Drawn(script, width=390) as browser:
        titles = texts(browser, ".heat-label title")
        assert titles == odd + odd, titles
        shown = browser.run("return [...document.querySelectorAll('.heat-row')].map((e) => e.lastChild.data)")
        assert shown == ["x<script>aler…", "\"&'", "<!--#exec"], shown


def legend():
    """the legend names both ends and the middle"""
    with Drawn("put(heatLegend({range: [-2, 2]}))") as browser:
        assert texts(browser, ".heat-tick") == ["-2", "0", "2"]


if __name__ == "__main__":
    sys.exit(run_cases([diverging, sequential, masked, not_finite, large, pointing, outlines,
                        labels_are_text, legend]))

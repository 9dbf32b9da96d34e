"""The page of a walk in a real browser: what it shows is what the engine computed.

usage: step_page_test.py STEP_PAGES STEP_THROUGH (the programs of step_pages.cpp, step_through.cpp)
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time

from browser import Browser
from cases import run_cases

REST = 0.5  # seconds until the fragment follows
FOLDER = tempfile.TemporaryDirectory(prefix="gradzoo-step-")


def page(name):
    return os.path.join(FOLDER.name, name + ".html")


def engine(name):
    with open(os.path.join(FOLDER.name, name + ".json"), encoding="utf-8") as file:
        return json.load(file)


class Opened:
    """A page of step_pages.cpp; at the end it must have been quiet and have fitted."""

    def __init__(self, name, fragment="", width=1280, path=None):
        self.path, self.fragment = path or page(name), fragment
        self.browser = Browser(width=width)

    def __enter__(self):
        self.browser.__enter__()
        self.browser.open(self.path, self.fragment)
        return self.browser

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                self.browser.check_quiet()
                self.browser.check_fits()
        finally:
            self.browser.__exit__()


def where(browser):
    return browser.run("return document.querySelector('.where').textContent")


def step_number(browser):
    return int(where(browser).split()[1])


def texts(browser, selector):
    return browser.run("return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)", selector)


def shown(browser, what):
    """The numbers that stand in the heat maps of a part of the card."""
    return [float(text) for text in texts(browser, f"[data-shows='{what}'] .heat-number")]


def close(found, expected, digits):
    assert len(found) == len(expected), f"{found} instead of {expected}"
    for one, other in zip(found, expected):
        assert abs(one - other) <= 0.51 * 10 ** (1 - digits) * max(abs(other), 1e-12), f"{found}, not {expected}"


def press(browser, *keys):
    from selenium.webdriver.common.keys import Keys
    browser.press(*(getattr(Keys, key, key) for key in keys))


def to_the_end(name):
    """Steps through a page by keys, comparing each step's card with the engine."""
    truth = engine(name)
    with Opened(name) as browser:
        count = len(truth["steps"])
        for number, step in enumerate(truth["steps"], 1):
            assert step_number(browser) == number, f"{where(browser)} instead of {number}"
            if step["node"] is not None:
                node = truth["nodes"][step["node"]]
                title = texts(browser, ".card h2")[0]
                assert node["op"] in title and node["label"] in title, title
                backward = step["kind"] == 2
                rule = node["backward"] if backward else node["forward"]
                found = "; ".join("".join(texts(browser, ".card .rule")).split("\n"))
                assert found == rule, f"{found} instead of {rule}"
                for what in ["value"] + ["gradient"] * backward:
                    numbers = shown(browser, what)
                    if numbers:
                        close(numbers, node[what], 3)
                for use in step["uses"]:
                    text = f"use {use['use']} of {use['uses']}"
                    assert any(text in found for found in texts(browser, ".use-text")), text
            press(browser, "RIGHT")
        assert step_number(browser) == count  # and no further
        assert browser.run("return location.hash") in ("", f"#step={count}") or time.sleep(REST) is None
        time.sleep(REST)
        assert browser.run("return location.hash") == f"#step={count}"


def steps_small():
    """three layers: every step's rule, numbers and uses are the engine's"""
    to_the_end("layers")


def steps_large():
    """a Transformer's training step: every step's rule, numbers and uses are the engine's"""
    to_the_end("transformer")


def plain_steps(text):
    """Of --plain per step: its kind, the rule's words, and [backward, relative error] of its checks."""
    for block in re.split(r"(?m)^step \d+ of \d+: ", text)[1:]:
        op = re.search(r"(?m)^(forward|backward of) (%\d+|\S+) = (\w+)", block)
        rule = re.search(r"(?m)^  rule  (.*(?:\n        .*)*)", block)
        rows = re.findall(r"(?m)^  \S.*\s(\S+)\s+(\S+)\s+(\S+)  (?:right|WRONG)$", block)
        yield op and op[0], rule[1].split() if rule else [], rows


def lesson(number):
    """The page of a lesson beside what step_through prints of it."""
    path = os.path.join(FOLDER.name, f"lesson{number}.html")
    subprocess.run([sys.argv[2], number, "--html", path], check=True)
    text = subprocess.run([sys.argv[2], number, "--plain"], check=True, capture_output=True, text=True).stdout
    steps = list(plain_steps(text))
    compared = 0
    with Opened("", path=path) as browser:
        for position, (op, rule, checks) in enumerate(steps, 1):
            assert step_number(browser) == position
            title = texts(browser, ".card h2")[0]
            if op:
                words = op.replace(" of ", " ").split()
                assert title.startswith(words[0]) and words[3] in title.split(), (title, op)
                assert "".join(texts(browser, ".card .rule")).split() == rule, (position, rule)
            rows = browser.run("""return [...document.querySelectorAll(".card .check tr")].slice(0)
                .map((row) => [...row.querySelectorAll("td")].map((cell) => cell.textContent))
                .filter((row) => row.length)""")
            assert len(rows) == len(checks), (position, rows, checks)
            for (_, backward, _, relative), (printed, _, printed_relative) in zip(rows, checks):
                close([float(backward)], [float(printed)], 6)
                if printed_relative == "-":  # two zeros but for rounding
                    assert relative == "-", relative
                else:
                    close([float(relative)], [float(printed_relative)], 2)
            compared += len(rows)
            press(browser, "RIGHT")
        assert step_number(browser) == len(steps)
    return compared


def first_lesson():
    """lesson 1: each step says what step_through prints"""
    assert lesson("1") > 5


def largest_lesson():
    """the largest lesson: each step says what step_through prints"""
    assert lesson("10") > 300


def data_is_exact():
    """all numbers of the page agree with the engine's to seven digits"""
    for name in ("layers", "transformer"):
        truth = engine(name)
        with Opened(name) as browser:
            found = browser.run("""return walk.nodes.map((node) => ["value", "gradient"].map((which) => {
                const tensor = walk.tensor(node[which]);
                return tensor && !tensor.corner ? tensor.values : null; }))""")
            compared = 0
            for node, tensors in zip(truth["nodes"], found):
                for which, numbers in zip(("value", "gradient"), tensors):
                    if numbers is None:
                        continue
                    close(numbers, node[which], 7)
                    compared += len(numbers)
            assert compared > 300, compared


def checks():
    """the relative errors beside a completed gradient are the engine's"""
    truth = engine("layers")
    with Opened("layers") as browser:
        seen = 0
        for number, step in enumerate(truth["steps"], 1):
            if step["kind"] != 2:
                continue
            browser.run("location.hash = `#step=${arguments[0]}`", number)
            browser.run("return new Promise((done) => setTimeout(done, 30))")
            for use in step["uses"]:
                errors = browser.run("""return [...document.querySelectorAll(
                    `.check[data-node='${arguments[0]}'] td:last-child`)].map((e) => e.textContent)""", use["node"])
                if use["use"] < use["uses"]:
                    assert not errors
                    continue
                close([0 if error == "-" else float(error) for error in errors],
                      [0 if error == "-" else relative for error, relative in zip(errors, truth["nodes"][use["node"]]["relative"])], 2)
                seen += len(errors)
        assert seen > 50, seen
        assert not texts(browser, ".check .bad")


def uses_add_up():
    """a value used twice: "use 2 of 2", with what was, is added and is now"""
    truth = engine("layers")
    number, k, use = next((n, k, u) for n, s in enumerate(truth["steps"], 1) for k, u in enumerate(s["uses"])
                          if u["use"] == 2 and u["before"])
    with Opened("layers", f"#step={number}") as browser:
        assert texts(browser, ".use-text")[k].startswith(f"use 2 of {use['uses']}")
        for what, key in (("was", "before"), ("added", "added"), ("now", "after")):
            close(shown(browser, f"{what} {k}"), use[key], 3)


def fragment():
    """the step is in the address: opened, edited, and with Back"""
    with Opened("layers", "#step=12") as browser:
        assert step_number(browser) == 12
        browser.run("location.hash = '#step=20'")
        time.sleep(REST)
        assert step_number(browser) == 20
        press(browser, "LEFT")
        time.sleep(REST)
        assert browser.run("return location.hash") == "#step=19"
        for expected in (20, 12):
            browser.driver.back()
            time.sleep(0.2)
            assert step_number(browser) == expected, where(browser)
        browser.driver.forward()
        time.sleep(0.2)
        assert step_number(browser) == 20
        for odd, expected in (("#step=99999", 34), ("#step=0", 1), ("#other", 1), ("#step=-3", 1)):
            browser.run("location.hash = arguments[0]", odd)
            time.sleep(0.2)
            assert step_number(browser) == expected, (odd, where(browser))


def keys():
    """left, right, Home, End, b, and the slider with its own keys"""
    with Opened("layers") as browser:
        for key, expected in (("RIGHT", 2), ("n", 3), ("LEFT", 2), ("p", 1), ("b", 18), ("END", 34), ("HOME", 1), ("LEFT", 1)):
            press(browser, key)
            assert step_number(browser) == expected, (key, where(browser))
        browser.run("document.querySelector('input[type=range]').focus()")
        press(browser, "RIGHT", "RIGHT")
        assert step_number(browser) == 3, where(browser)


def playing():
    """space plays and pauses, and so does the button; the end stops it"""
    with Opened("layers") as browser:
        button = "return document.querySelector('.buttons button:nth-child(3)').textContent"
        press(browser, " ")
        assert "Pause" in browser.run(button)
        time.sleep(2.5)
        press(browser, " ")
        reached = step_number(browser)
        assert 2 <= reached <= 4, reached
        assert "Play" in browser.run(button)
        time.sleep(1.3)
        assert step_number(browser) == reached
        # A button that was clicked leaves space to playing.
        from selenium.webdriver.common.by import By
        browser.driver.find_element(By.CSS_SELECTOR, ".buttons button:nth-child(4)").click()
        press(browser, " ")
        assert step_number(browser) == reached + 1 and "Pause" in browser.run(button)
        press(browser, " ")
        browser.run("location.hash = '#step=33'")
        time.sleep(0.2)
        browser.run("document.querySelector('.buttons button:nth-child(3)').click()")
        time.sleep(1.5)
        assert step_number(browser) == 34 and "Play" in browser.run(button)


def pointing():
    """pointing at an output cell outlines the input cells it came from, by mouse and by keys"""
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    truth = engine("layers")
    outlined = """return [...document.querySelectorAll(`[data-shows='${arguments[0]}'] .heat-outline`)].map(
        (e) => [Number(e.dataset.row), Number(e.dataset.column)])"""
    number, node = next((n, truth["nodes"][s["node"]]) for n, s in enumerate(truth["steps"], 1)
                        if s["node"] is not None and truth["nodes"][s["node"]]["op"] == "tanh")
    with Opened("layers", f"#step={number}") as browser:
        cells = browser.driver.find_elements(By.CSS_SELECTOR, "[data-shows='value'] .heat-cell")
        ActionChains(browser.driver).move_to_element(cells[7]).perform()
        assert browser.run(outlined, "input 0") == [[2, 1]]
        readout = texts(browser, ".readout")[0]
        close([float(readout.split("=")[1].split(",")[0])], [node["value"][7]], 6)
        assert readout.startswith("y[2, 1] ") and "from 1 of" in readout, readout
        # linear: a row of x, a row of w.
        browser.run("location.hash = arguments[0]", f"#step={number - 1}")
        time.sleep(0.2)
        sources = truth["nodes"][truth["steps"][number - 2]["node"]]["sources"]
        browser.run("document.querySelector(\"[data-shows='value'] .heatmap\").focus()")
        press(browser, "DOWN", "RIGHT")
        if browser.run("return document.querySelectorAll('.heat-cursor').length") == 0:
            raise AssertionError("no cell is marked")
        cell = int(browser.run("return document.querySelector('.heat-cursor').dataset.row")) * 3 + int(
            browser.run("return document.querySelector('.heat-cursor').dataset.column"))
        assert step_number(browser) == number - 1  # arrow keys were the map's
        for k, lists in enumerate(sources):
            expected = [[s // 3, s % 3] for s in lists[cell]] if lists else []
            assert browser.run(outlined, f"input {k}") == expected, k
        assert sum(len(lists[cell]) for lists in sources if lists) >= 3


def modules():
    """modules are boxes that open; repeats are folded; stepping shows the module it is in"""
    from selenium.webdriver.common.by import By
    boxes = "return [...document.querySelectorAll('.graph .box title')].map((e) => e.textContent.split('\\n')[0])"
    with Opened("layers") as browser:
        press(browser, "END")
        press(browser, "b")
        assert "Layer × 3" in browser.run(boxes) and "Head × 2" in browser.run(boxes), browser.run(boxes)
        here = "return [...document.querySelectorAll('.graph .here')].map((e) => Number(e.dataset.node))"
        current = "return walk.steps[Number(document.querySelector('.where').textContent.split(' ')[1]) - 1].node"
        assert browser.run(here) == [browser.run(current)]
        module = browser.driver.find_element(By.CSS_SELECTOR, ".graph .module")
        browser.run("arguments[0].focus()", module)
        press(browser, "ENTER")
        assert "tanh" in browser.run(boxes)
        choices = texts(browser, ".crumbs option")
        assert choices == ["Layer 1 (1 of 3)", "Layer 2 (2 of 3)", "Layer 3 (3 of 3)"], choices
        weight = "return document.querySelector('.graph .leaf title').textContent.split('\\n')[0]"
        assert browser.run(weight) == "layers.0.weight"
        browser.run("""const s = document.querySelector('.crumbs select'); s.value = s.options[2].value;
            s.dispatchEvent(new Event('change'))""")
        assert browser.run(weight) == "layers.2.weight"
        browser.driver.find_element(By.CSS_SELECTOR, ".graph .leaf").click()
        assert "layers.2.weight" in texts(browser, ".card h2")[0]
        browser.driver.find_element(By.CSS_SELECTOR, ".crumbs button").click()
        assert "Layer × 3" in browser.run(boxes)
        press(browser, "HOME")
        assert "tanh" in browser.run(boxes) and "linear" in where(browser)  # followed into Layer 1
        tanh = browser.driver.find_elements(By.CSS_SELECTOR, ".graph .box")
        next(box for box in tanh if "tanh" in box.get_attribute("aria-label")).click()
        assert "forward: tanh" in where(browser)


def without_dot():
    """a page made without Graphviz has the list, which opens and follows alike"""
    from selenium.webdriver.common.by import By
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[1], folder, "layers"], check=True, env={**os.environ, "PATH": folder})
        with Opened("", path=os.path.join(folder, "layers.html")) as browser:
            assert not texts(browser, ".graph")
            module = ".stage button.module"
            assert [t for t in texts(browser, module) if "Layer × 3" in t]
            assert [t for t in texts(browser, ".stage .here.value") if t.startswith("linear")]  # opened: it is there
            press(browser, "END", "b")
            assert not [t for t in texts(browser, ".stage .value") if t.startswith("tanh")]
            browser.driver.find_element(By.CSS_SELECTOR, module).click()
            tanh = [e for e in browser.driver.find_elements(By.CSS_SELECTOR, ".stage .value") if e.text.startswith("tanh")]
            tanh[0].click()
            assert "backward: tanh" in where(browser)


def unfolding():
    """what a reader has unfolded stays unfolded, and shows the inputs' values"""
    truth = engine("layers")
    with Opened("layers", "#step=20") as browser:
        assert not browser.run("return document.querySelector('.card details').open")
        browser.run("document.querySelector('.card summary').click()")
        for number in (20, 21, 22):
            assert step_number(browser) == number
            assert browser.run("return document.querySelector('.card details').open")
            node = truth["nodes"][truth["steps"][number - 1]["node"]]
            for k, index in enumerate(node["inputs"]):
                numbers = shown(browser, f"input {k}")
                if numbers:
                    close(numbers, truth["nodes"][index]["value"], 3)
            press(browser, "RIGHT")
            time.sleep(0.1)


def two_functions():
    """a text shows the graph that comes next, an update the one before"""
    path = os.path.join(FOLDER.name, "lesson2.html")
    subprocess.run([sys.argv[2], "2", "--html", path], check=True)
    with Opened("", path=path) as browser:
        kinds = browser.run("return walk.steps.map((step) => step.kind)")
        titles = browser.run("return walk.graphs.map((graph) => graph.title)")
        assert len(titles) == 2, titles
        update = kinds.index("update") + 1
        for step, title in ((1, titles[0]), (update, titles[0]), (update + 1, titles[1]), (len(kinds), titles[1])):
            browser.run("location.hash = `#step=${arguments[0]}`", step)
            time.sleep(0.2)
            assert texts(browser, ".crumbs button")[0] == title, (step, title)


def norms():
    """gradient norms are those of the engine, and appear when they are complete"""
    truth = engine("layers")
    with Opened("layers") as browser:
        bars = "return [...document.querySelectorAll('.bar')].map((e) => [e.dataset.layer, e.lastChild.textContent])"
        assert [text for _, text in browser.run(bars)] == ["not yet"] * 3
        press(browser, "END")
        for layer, text in browser.run(bars):
            node = next(n for n in truth["nodes"] if n["label"] == layer + ".weight")
            close([float(text)], [sum(x * x for x in node["gradient"]) ** 0.5], 4)


def odd_names():
    """VIS1, B18: names and texts are shown as typed and never run"""
    script, quotes = "x<script>alert(1)</script>", "\"&'<!--#exec \\N"
    with Opened("odd") as browser:
        assert browser.run("return document.title").startswith(script)
        assert texts(browser, "h1") == [script]
        assert script in texts(browser, ".card h2")[0]
        assert texts(browser, ".card p") == [quotes, "</script>"]
        assert texts(browser, ".card th") == [script, quotes] and texts(browser, ".card td") == [quotes, script]
        press(browser, "RIGHT")
        assert script in texts(browser, ".card .path")[0]
        assert {script, quotes} <= set(texts(browser, ".card button.link"))
        assert texts(browser, ".crumbs button") == [quotes, script]
        titles = {text.split("\n")[0] for text in texts(browser, ".graph .box title")}
        assert {script, quotes} <= titles, titles
        assert set(texts(browser, ".bar-name")) == {script, quotes}
        press(browser, "END")
        assert script in texts(browser, ".card h3") and "update" in texts(browser, ".card h2")[0]
        assert browser.run("return document.querySelectorAll('script').length") == 2


def phone():
    """readable on a phone: every kind of step fits"""
    for name, steps in (("odd", (1, 2, 9, 10)), ("layers", (1, 12, 16, 18, 25, 34)), ("transformer", (60, 150, 160, 200, 300))):
        with Opened(name, width=390) as browser:
            for step in steps:
                browser.run("location.hash = `#step=${arguments[0]}`", step)
                time.sleep(0.1)
                browser.check_fits()


def many_ops():
    """300 ops in one drawing: the current box is in view, each step takes less than a quarter of a second"""
    with Opened("chain") as browser:
        count = browser.run("return walk.steps.length")
        assert count > 600, count
        for step in (1, 200, 450, count):
            browser.run("location.hash = `#step=${arguments[0]}`", step)
            time.sleep(0.3)
            inside = browser.run("""const a = document.querySelector('.graph .here').getBoundingClientRect(),
                b = document.querySelector('.stage').getBoundingClientRect();
                return a.top >= b.top && a.bottom <= b.bottom && a.left >= b.left && a.right <= b.right""")
            assert inside, step
        spent = browser.run("""const begin = performance.now();
            for (let i = 0; i < 20; ++i)
              document.body.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowLeft", bubbles: true}));
            document.body.getBoundingClientRect();
            return (performance.now() - begin) / 20""")
        assert spent < 250, f"{spent} ms for a step"


if __name__ == "__main__":
    subprocess.run([sys.argv[1], FOLDER.name], check=True)
    sys.exit(run_cases([steps_small, steps_large, first_lesson, largest_lesson, data_is_exact, checks, uses_add_up, fragment, keys, playing,
                        pointing, modules, without_dot, unfolding, two_functions, norms, odd_names, phone, many_ops]))

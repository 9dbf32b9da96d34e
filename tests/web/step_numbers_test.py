"""What the page of a walk shows is what the engine computed: rules, numbers, checks, texts.

usage: step_numbers_test.py STEP_PAGES STEP_THROUGH
"""

import re
import subprocess
import sys
import time

from step_page import (REST, Opened, close, engine, go, lesson_page, make_pages, press, run_cases,
                       shown, step_number, texts, where)


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
    path = lesson_page(number)
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
            go(browser, number)
            for use in step["uses"]:
                errors = texts(browser, f".check[data-node='{use['node']}'] td:last-child")
                if use["use"] < use["uses"]:
                    assert not errors
                    continue
                expected = truth["nodes"][use["node"]]["relative"]
                assert len(errors) == len(expected)
                for error, relative in zip(errors, expected):
                    if error != "-":  # of two zeros but for rounding
                        close([float(error)], [relative], 2)
                        seen += 1
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


def norms():
    """gradient norms are those of the engine, and appear when they are complete"""
    truth = engine("layers")
    with Opened("layers") as browser:
        assert texts(browser, ".bar .number") == ["not yet"] * 3
        press(browser, "END")
        for layer, text in zip(texts(browser, ".bar-name"), texts(browser, ".bar .number")):
            node = next(n for n in truth["nodes"] if n["label"] == layer + ".weight")
            close([float(text)], [sum(x * x for x in node["gradient"]) ** 0.5], 4)


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


def large_tensors():
    """of a large tensor: statistics and a corner, and no wrong outlines"""
    truth = engine("large")
    with Opened("large") as browser:
        values = truth["nodes"][truth["steps"][0]["node"]]["value"]
        notes = texts(browser, "[data-shows='value'] .faint")
        found = [float(text) for text in re.findall(r"(?:min|mean|max) ([-\d.e]+)", " ".join(notes))]
        close(found, [min(values), sum(values) / len(values), max(values)], 4)
        assert "Shown are the first 16 × 16 numbers." in notes, notes
        assert len(texts(browser, "[data-shows='value'] .heat-cell")) == 256
        assert not texts(browser, "[data-shows='value'] .heatmap[tabindex]")


def odd_names():
    """VIS1, B18: names and texts are shown as typed and never run"""
    script, quotes = "x<script>alert(1)</script>", "\"&'<!--<img src=x onerror=alert(1)> \\N"
    with Opened("odd") as browser:
        assert browser.run("return document.title").startswith(script)
        assert texts(browser, "h1") == [script]
        assert script in texts(browser, ".card h2")[0]
        assert texts(browser, ".card p") == [quotes, "</script>"]
        assert texts(browser, ".card th") == [script, quotes]
        assert texts(browser, ".card td") == [quotes, script]
        press(browser, "RIGHT")
        assert script in texts(browser, ".card .path")[0]
        assert {script, quotes} <= set(texts(browser, ".card button.link"))
        assert texts(browser, ".crumbs")[0].startswith(quotes)
        boxes = " ".join(texts(browser, ".map .box"))  # of the drawing, or of the list
        assert script in boxes and quotes in boxes, boxes
        assert set(texts(browser, ".bar-name")) == {script, quotes}
        press(browser, "END")
        assert script in texts(browser, ".card h3") and "update" in texts(browser, ".card h2")[0]
        for step in range(1, browser.run("return walk.steps.length") + 1):
            go(browser, step)
            assert browser.run("return document.querySelectorAll('script, img').length") == 2, step


if __name__ == "__main__":
    make_pages()
    sys.exit(run_cases([steps_small, steps_large, first_lesson, largest_lesson, data_is_exact, checks,
                        uses_add_up, norms, unfolding, large_tensors, odd_names]))

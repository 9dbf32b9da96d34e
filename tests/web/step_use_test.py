"""The page of a walk as a reader uses it: keys, address, playing, pointing, modules, on a phone.

usage: step_use_test.py STEP_PAGES STEP_THROUGH
"""

import os
import subprocess
import sys
import tempfile
import time

from step_page import (REST, Opened, close, engine, find, go, lesson_page, make_pages, needs_dot,
                       point, press, run_cases, step_number, texts, where)


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
    """left, right, n, p, Home, End, b, f, and the slider with its own keys"""
    with Opened("layers") as browser:
        for key, expected in (("RIGHT", 2), ("n", 3), ("LEFT", 2), ("p", 1), ("b", 18), ("f", 1), ("END", 34),
                              ("HOME", 1), ("LEFT", 1)):
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
        find(browser, ".buttons button:nth-child(4)")[0].click()
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
    truth = engine("layers")
    outlined = """return [...document.querySelectorAll(`[data-shows='${arguments[0]}'] .heat-outline`)].map(
        (e) => [Number(e.dataset.row), Number(e.dataset.column)])"""
    number, node = next((n, truth["nodes"][s["node"]]) for n, s in enumerate(truth["steps"], 1)
                        if s["node"] is not None and truth["nodes"][s["node"]]["op"] == "tanh")
    with Opened("layers", f"#step={number}") as browser:
        cells = find(browser, "[data-shows='value'] .heat-cell")
        point(browser, cells[7])
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
    def boxes():
        return [text.split("\n")[0] for text in texts(browser, ".graph .box title")]

    needs_dot()
    with Opened("layers") as browser:
        press(browser, "END")
        press(browser, "b")
        assert "Layer × 3" in boxes() and "Head × 2" in boxes(), boxes()
        here = "return [...document.querySelectorAll('.graph .here')].map((e) => Number(e.dataset.node))"
        current = browser.run("return walk.steps[arguments[0] - 1].node", step_number(browser))
        assert browser.run(here) == [current]
        module = find(browser, ".graph .module")[0]
        browser.run("arguments[0].focus()", module)
        press(browser, "ENTER")
        assert "tanh" in boxes()
        choices = texts(browser, ".crumbs option")
        assert choices == ["Layer 1 (1 of 3)", "Layer 2 (2 of 3)", "Layer 3 (3 of 3)"], choices
        weight = "return document.querySelector('.graph .leaf title').textContent.split('\\n')[0]"
        assert browser.run(weight) == "layers.0.weight"
        browser.run("""const s = document.querySelector('.crumbs select'); s.value = s.options[2].value;
            s.dispatchEvent(new Event('change'))""")
        assert browser.run(weight) == "layers.2.weight"
        find(browser, ".graph .leaf")[0].click()
        assert "layers.2.weight" in texts(browser, ".card h2")[0]
        find(browser, ".crumbs button")[0].click()
        assert "Layer × 3" in boxes()
        press(browser, "HOME")
        assert "tanh" in boxes() and "linear" in where(browser)  # followed into Layer 1
        tanh = find(browser, ".graph .box")
        next(box for box in tanh if "tanh" in box.get_attribute("aria-label")).click()
        assert "forward: tanh" in where(browser)


def without_dot():
    """a page made without Graphviz has the list, which opens and follows alike"""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.argv[1], folder, "layers"], check=True, env={**os.environ, "PATH": folder})
        with Opened("", path=os.path.join(folder, "layers.html")) as browser:
            assert not texts(browser, ".graph")
            module = ".stage button.module"
            assert [t for t in texts(browser, module) if "Layer × 3" in t]
            # Where the step is, the modules are open.
            assert [t for t in texts(browser, ".stage .here.value") if t.startswith("linear")]
            press(browser, "END", "b")
            assert not [t for t in texts(browser, ".stage .value") if t.startswith("tanh")]
            find(browser, module)[0].click()
            values = find(browser, ".stage .value")
            next(value for value in values if value.text.startswith("tanh")).click()
            assert "backward: tanh" in where(browser)


def two_functions():
    """a text shows the graph that comes next, an update the one before"""
    with Opened("", path=lesson_page("2")) as browser:
        kinds = browser.run("return walk.steps.map((step) => step.kind)")
        titles = browser.run("return walk.graphs.map((graph) => graph.title)")
        assert len(titles) == 2, titles
        update = kinds.index("update") + 1
        for step, graph in ((1, 0), (update, 0), (update + 1, 1), (len(kinds), 1)):
            go(browser, step)
            assert texts(browser, ".crumbs")[0].startswith(titles[graph]), step


def clicks():
    """buttons, the strip of parts, and boxes of the drawing go to their steps"""
    with Opened("layers") as browser:
        buttons = find(browser, ".buttons button")
        for position, expected in ((3, 2), (1, 1), (4, 34), (0, 1), (5, 18)):
            buttons[position].click()
            assert step_number(browser) == expected, (position, where(browser))
        find(browser, ".parts .forward")[0].click()
        assert step_number(browser) == 1
        find(browser, ".card button.link")[0].click()
        assert texts(browser, ".card h2")[0].split() == ["constant", "x"]


def phone():
    """readable on a phone: every kind of step fits"""
    for name, steps in (("odd", (1, 2, 9, 10)), ("layers", (1, 12, 16, 18, 25, 34)),
                        ("transformer", (60, 150, 160, 200, 300))):
        with Opened(name, width=390) as browser:
            for step in steps:
                go(browser, step)
                browser.check_fits()


def many_ops():
    """300 ops in one drawing: the current box is in view, each step takes less than a quarter of a second"""
    needs_dot()
    with Opened("chain") as browser:
        count = browser.run("return walk.steps.length")
        assert count > 600, count
        for step in (1, 200, 450, count):
            go(browser, step)
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
    make_pages()
    sys.exit(run_cases([fragment, keys, playing, pointing, modules, without_dot, two_functions, clicks,
                        phone, many_ops]))

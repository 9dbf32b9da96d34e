"""The reports of train and compare in a browser: what they show is what the runs left behind.

usage: report_page_test.py TRAIN COMPARE ATTENTION
"""

import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time

from browser import Browser
from cases import run_cases

TRAIN, COMPARE, ATTENTION = sys.argv[1:]
TINY = ["--d-model", "16", "--d-ff", "16", "--longest", "5"]
EVIL = "<script>document.title='broken'</script>"


def run(program, *arguments):
    process = subprocess.run([program, *arguments], stdin=subprocess.DEVNULL, capture_output=True,
                             text=True, timeout=300)
    assert process.returncode == 0, process.stderr
    return process.stdout


def metrics(folder):
    with open(os.path.join(folder, "metrics.jsonl"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def series(folder, key, model=None):
    """The steps and values of a key in the metrics."""
    lines = [line for line in metrics(folder) if key in line and line.get("model") == model]
    return [line["step"] for line in lines], [line[key] for line in lines]


def page(folder):
    return os.path.join(folder, "report.html")


def near(a, b):
    return abs(a - b) <= 1e-4 * abs(b) + 1e-12


FIGURE = """const figure = [...document.querySelectorAll('.chart-figure')]
  .find(f => f.querySelector('h3').textContent === arguments[0]);"""


class Chart:
    """One chart of the page, by its title."""

    def __init__(self, browser, title):
        self.browser, self.title = browser, title

    def ask(self, script):
        return self.browser.run(FIGURE + script, self.title)

    def lines(self):
        """How many curves are drawn."""
        return self.ask("return figure.querySelectorAll('.chart path.chart-line').length")

    def ticks(self):
        return [float(text) for text in self.ask(
            "return [...figure.querySelectorAll('.chart-y')].map(t => t.textContent)")]

    def press(self, *keys):
        """What stands under the chart after these keys: {name: (value, step)} and the step."""
        self.ask("figure.querySelector('.chart').focus()")
        self.browser.press(*keys)
        return self.readout()

    def readout(self):
        words = self.ask("return figure.querySelector('.chart-readout').textContent")
        at, parts = words.split(": ", 1)
        step = int(at.split()[1])
        values = {}
        for part in parts.split(", "):
            place = step
            if part.endswith(")"):
                part, place = part[:-1].split(" (at ")
            name, value = part.rsplit(" ", 1)
            values[name] = (float(value), int(place))
        return step, values

    def click(self, name):
        """Presses the button of that name."""
        self.browser.run(FIGURE + """[...figure.querySelectorAll('button')]
          .find(b => b.textContent.trim() === arguments[1]).click()""", self.title, name)


def keys():
    from selenium.webdriver.common.keys import Keys
    return Keys


def check_curve(browser, title, name, steps, values, factor=1):
    """Going along a chart with the arrow keys shows every value of the metrics."""
    chart = Chart(browser, title)
    step, shown = chart.press(keys().HOME)
    seen = {}
    last = None
    while step != last:
        value, place = shown[name]
        seen[place] = value
        last = step
        step, shown = chart.press(keys().ARROW_RIGHT)
    assert list(sorted(seen)) == sorted(set(steps)), (title, seen, steps)
    for at, value in zip(steps, values):
        assert near(seen[at], factor * value), (title, at, seen[at], value)


def table_rows(browser, kind):
    return browser.run("""return [...document.querySelectorAll(`table.${arguments[0]} tbody tr`)]
      .map(row => [...row.children].map(cell => cell.textContent))""", kind)


def check_path(chart, values, place):
    """The first curve is drawn where the values are between the ticks of the axis."""
    path = chart.ask("return figure.querySelector('path.chart-line').getAttribute('d')")
    drawn = [float(point.split()[1]) for point in path.replace("L", "M").split("M")[1:]]
    marks = chart.ask("""return [...figure.querySelectorAll('.chart-y')]
      .map(t => [Number(t.textContent), Number(t.getAttribute('y')) - 4])""")
    (low, bottom), (high, top) = marks[0], marks[-1]
    scale = (top - bottom) / (place(high) - place(low))
    for y, value in zip(drawn, values, strict=True):
        assert abs(y - bottom - scale * (place(value) - place(low))) < 0.2, (y, value)


def settings_rows(browser):
    return browser.run("""return [...document.querySelectorAll('.settings div')]
      .map(row => [...row.children].map(cell => cell.textContent))""")


def shows_the_run():
    """what a training run's page shows is what its metrics, its results and its settings say"""
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        out = os.path.join(folder, "run")
        result = json.loads(run(TRAIN, *TINY, "--steps", "80", "--valid-every", "25", "--out", out,
                                "--json").splitlines()[-1])
        browser.open(page(out))
        assert browser.run("return document.title") == "reverse: transformer"
        for title, name, key, factor in [
                ("Loss", "training", "loss", 1), ("Loss", "validation", "valid_loss", 1),
                ("Accuracy", "training", "accuracy", 100),
                ("Learning rate", "learning rate", "lr", 1),
                ("Gradient norm", "gradient norm", "gradient_norm", 1)]:
            check_curve(browser, title, name, *series(out, key), factor)
        rows = dict(table_rows(browser, "results"))
        assert rows["model"] == "transformer" and rows["learned"] == "reverse", rows
        for words, key in [("steps", "steps"), ("parameters", "parameters"), ("seed", "seed"),
                           ("threads", "threads")]:
            assert int(rows[words]) == result[key], (words, rows)
        for words, key in [("loss of the last step", "loss"), ("validation loss", "valid_loss"),
                           ("seconds", "seconds")]:
            assert near(float(rows[words]), result[key]), (words, rows)
        for words, key in [("held-out sequences exactly right", "exact_match"),
                           ("held-out tokens right", "token_accuracy")]:
            assert rows[words] == f"{100 * result[key]:.1f} %", (words, rows)
        with open(os.path.join(out, "settings.cfg"), encoding="utf-8") as file:
            settings = [line.rstrip("\n").split(" = ", 1) for line in file]
        assert settings_rows(browser) == settings
        check_samples(table_rows(browser, "samples"))
        check_marks(browser)
        browser.check_fits()
        browser.check_quiet()


def check_marks(browser):
    """What is marked in an answer are its wrong places, and only these."""
    for row in browser.run("""return [...document.querySelectorAll('table.samples tbody tr')]
        .map(row => [...row.querySelectorAll('td')].slice(-3).map(cell => [cell.textContent,
          [...cell.querySelectorAll('mark')].map(mark => mark.textContent.trim())]))"""):
        wanted, answer = row[0][0].split(), row[1][0].split()
        if row[1][0] == "(nothing)":
            answer = []
        wrong = [token for i, token in enumerate(answer) if wanted[i:i + 1] != [token]]
        assert " ".join(row[1][1]).split() == wrong and row[0][1] == [], row


def check_samples(rows):
    assert 8 <= len(rows) <= 16, rows
    for source, wanted, answer, verdict in rows:
        assert wanted.split() == source.split()[::-1], (source, wanted)
        assert verdict == ("✓ right" if answer == wanted else "✗ wrong"), (wanted, answer, verdict)


def switches():
    """the legend switches curves off and on, the scale of the loss turns logarithmic and back"""
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        out = os.path.join(folder, "run")
        run(TRAIN, *TINY, "--steps", "80", "--valid-every", "20", "--out", out)
        browser.open(page(out))
        chart = Chart(browser, "Loss")
        assert chart.lines() == 2
        linear = chart.ticks()
        steps = {round(b - a, 9) for a, b in zip(linear, linear[1:])}
        assert len(linear) >= 3 and len(steps) == 1, linear
        chart.click("validation")
        assert chart.lines() == 1
        assert set(chart.press(keys().END)[1]) == {"training"}
        chart.click("validation")
        assert chart.lines() == 2 and set(chart.press(keys().END)[1]) == {"training", "validation"}
        losses = series(out, "loss")[1]
        check_path(chart, losses, float)
        chart.click("log scale")
        check_path(chart, losses, math.log)
        chart.click("log scale")
        check_path(chart, losses, float)
        chart.click("training")
        chart.click("validation")  # none is left: still a page that works
        assert chart.lines() == 0
        browser.check_quiet()


def pointer():
    """pointing at a chart shows the values there; leaving it, what the axis means"""
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        out = os.path.join(folder, "run")
        run(TRAIN, *TINY, "--steps", "80", "--out", out)
        browser.open(page(out))
        chart = Chart(browser, "Accuracy")
        picture = chart.ask("return figure.querySelector('.chart')")
        from selenium.webdriver.common.action_chains import ActionChains
        browser.run("arguments[0].scrollIntoView({block: 'center'})", picture)
        ActionChains(browser.driver).move_to_element(picture).perform()
        step, values = chart.readout()
        steps, accuracy = series(out, "accuracy")
        assert 30 <= step <= 60, step
        assert near(values["training"][0], 100 * accuracy[steps.index(step)]), (step, values)
        ActionChains(browser.driver).move_to_element(
            browser.run("return document.querySelector('h1')")).perform()
        words = chart.ask("return figure.querySelector('.chart-readout').textContent")
        assert words == "% of the tokens of a training batch", words
        browser.check_quiet()


def phone():
    """the page of a run fits a phone's width, with all of its charts"""
    with tempfile.TemporaryDirectory() as folder, Browser(390, 800) as browser:
        out = os.path.join(folder, "run")
        run(TRAIN, *TINY, "--longest", "20", "--steps", "20", "--out", out)
        browser.open(page(out))
        browser.check_fits()
        wide = browser.run("""return [...document.querySelectorAll('.chart')]
          .map(chart => chart.getBoundingClientRect().right)""")
        assert len(wide) == 4 and max(wide) <= 390, wide
        browser.check_quiet()


def resumed():
    """a run that was stopped by Ctrl-C has its page; resumed, the page covers the whole run"""
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        out = os.path.join(folder, "run")
        process = subprocess.Popen([TRAIN, *TINY, "--steps", "1000000", "--out", out],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, text=True)
        deadline = time.time() + 60
        while not (os.path.exists(out + "/metrics.jsonl") and len(metrics(out)) > 3):
            assert time.time() < deadline and process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=60)[1]
        assert process.returncode == 130, errors
        steps, _ = series(out, "loss")
        browser.open(page(out))
        rows = dict(table_rows(browser, "results"))
        reached = int(rows["steps"])
        assert steps[-1] <= reached < steps[-1] + 10, (reached, steps)
        assert "stopped after step" in browser.run("return document.body.textContent")
        chart = Chart(browser, "Loss")
        assert chart.press(keys().HOME)[0] == 10 and chart.press(keys().END)[0] == steps[-1]
        check_samples(table_rows(browser, "samples"))
        run(TRAIN, "--resume", out, "--steps", str(reached + 20))
        browser.open(page(out))
        chart = Chart(browser, "Loss")
        assert chart.press(keys().HOME)[0] == 10
        assert chart.press(keys().END)[0] == reached + 20
        assert dict(settings_rows(browser))["steps"] == str(reached + 20)
        browser.check_quiet()


def scripts_are_text():
    """B18, VIS1: a token that is a script is shown, not run"""
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        pairs = os.path.join(folder, "pairs.tsv")
        with open(pairs, "w", encoding="utf-8") as file:
            for a in [EVIL, "</script>", "<!--#exec", "\"'&amp;", "<b>bold</b>"]:
                file.write(f"{a} b\tb {a}\n")
        out = os.path.join(folder, "run")
        run(TRAIN, *TINY, "--train", pairs, "--valid", pairs, "--steps", "5", "--out", out)
        browser.open(page(out))
        assert browser.run("return document.title") == "pairs: transformer"
        assert browser.run("return document.scripts.length") == 2
        assert browser.run("return document.querySelectorAll('b').length") == 0
        rows = table_rows(browser, "samples")
        assert [row[0] for row in rows] == [f"{EVIL} b", "</script> b", "<!--#exec b", "\"'&amp; b",
                                            "<b>bold</b> b"], rows
        assert [row[1] for row in rows][0] == f"b {EVIL}", rows
        browser.check_quiet()


def text_model():
    """the page of a model of a text shows how it continues"""
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        text = os.path.join(folder, "text.txt")
        with open(text, "w", encoding="utf-8") as file:
            file.write("to be or not to be, that is it.\n" * 60)
        out = os.path.join(folder, "run")
        run(TRAIN, "--model", "decoder_lm", "--d-model", "16", "--d-ff", "16", "--text", text,
            "--context", "16", "--steps", "10", "--out", out)
        browser.open(page(out))
        (source, wanted, answer, verdict), = table_rows(browser, "samples")
        assert source + wanted in "to be or not to be, that is it.\n" * 60, (source, wanted)
        assert len(source) == len(wanted) == len(answer) == 60 and verdict == "", answer
        browser.check_quiet()


def check_attention(browser, checkpoint):
    """The open part shows, cell by cell, what `attention` says of that checkpoint."""
    answer = browser.run("return DATA.attention.answers[0]")
    other = json.loads(run(ATTENTION, "--checkpoint", checkpoint, "--input", answer["source"],
                           "--format", "json", "--max-length", "24"))
    assert answer["answer"] == other["answer"], (answer["answer"], other["answer"])
    for mine, its in zip(answer["attention"], other["attention"], strict=True):
        assert mine["queries"] == its["queries"] and mine["keys"] == its["keys"]
        for a, b in zip(mine["weights"], its["weights"], strict=True):
            assert all(abs(x - y) < 2e-5 for x, y in zip(a, b, strict=True)), (a, b)
    heads = browser.run("return document.querySelectorAll('.attention-head').length")
    assert heads == len(answer["attention"]) > 1, heads
    chosen = browser.run("""const d = document.querySelector('.attention-head[aria-pressed=true]')
        .dataset; return [d.part, Number(d.layer), Number(d.head)]""")
    weights, = [head["weights"] for head in answer["attention"]
                if [head["part"], head["layer"], head["head"]] == chosen]
    browser.run("document.querySelector('.attention-enlarged .heatmap').focus()")
    browser.press(keys().ARROW_DOWN)
    words = browser.run("return document.querySelector('.attention-cell').textContent")
    row = 2 if "(row 2)" in words else 1
    assert "(column 1)" in words and near(float(words.split()[-1]), weights[row - 1][0]), words


def shows_attention():
    """the page of a run shows what its model looks at; one without attention has no such part"""
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        out = os.path.join(folder, "run")
        run(TRAIN, *TINY, "--steps", "5", "--out", out)
        browser.open(page(out))
        assert browser.run("return document.querySelectorAll('.attention-panel').length") == 1
        check_attention(browser, out)
        browser.check_fits()
        out = os.path.join(folder, "plain")
        run(TRAIN, "--model", "rnn", "--attention", "none", "--hidden-size", "8", "--steps", "2",
            "--out", out)
        browser.open(page(out))
        assert "Attention" not in browser.run("return document.body.innerText")
        browser.check_quiet()


def shows_the_comparison():
    """the page of a comparison has the table that is printed, and each model's curves"""
    models = ["gru:dot", "transformer", "rnn:none"]
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        out = os.path.join(folder, "run")
        printed = run(COMPARE, "--longest", "4", "--symbols", "4", "--steps", "40", "--every", "20",
                      "--models", ",".join(models), "--out", out)
        browser.open(page(out))
        rows = table_rows(browser, "results")
        assert [row[0] for row in rows] == models
        lines = {line.split()[0]: line for line in printed.splitlines() if line.strip()}
        for row in rows:
            assert "".join(row).replace(" ", "") == lines[row[0]].replace(" ", ""), (row, lines)
        for title, key, factor in [("Training loss", "loss", 1), ("Accuracy", "accuracy", 100),
                                   ("Held-out sequences exactly right", "exact_match", 100),
                                   ("Gradient norm", "gradient_norm", 1)]:
            for model in models:
                check_curve(browser, title, model, *series(out, key, model), factor)
        chart = Chart(browser, "Training loss")
        assert chart.lines() == 3
        chart.click("transformer")
        assert chart.lines() == 2
        assert set(chart.press(keys().END)[1]) == {"gru:dot", "rnn:none"}
        open_parts = "return document.querySelectorAll('.attention-panel').length"
        parts = browser.run("""return [...document.querySelectorAll('summary')]
          .map(summary => summary.textContent)""")
        assert parts == ["gru:dot", "transformer"], parts  # rnn:none has no attention
        assert browser.run(open_parts) == 1
        browser.run("document.querySelectorAll('summary')[1].click()")
        browser.run("return new Promise(done => setTimeout(done, 100))")
        assert browser.run(open_parts) == 2
        samples = table_rows(browser, "samples")
        assert [row[0] for row in samples] == models * 2, samples
        check_samples([row[1:] for row in samples] * 2)
        assert dict(settings_rows(browser))["models"] == ",".join(models)
        browser.check_fits()
        browser.check_quiet()


def comparison_on_a_phone():
    """the page of a comparison fits a phone's width"""
    with tempfile.TemporaryDirectory() as folder, Browser(390, 800) as browser:
        out = os.path.join(folder, "run")
        run(COMPARE, "--steps", "10", "--every", "10", "--models", "rnn:none,gru:dot", "--out", out)
        browser.open(page(out))
        browser.check_fits()
        browser.check_quiet()


if __name__ == "__main__":
    sys.exit(run_cases([
        shows_the_run, switches, pointer, phone, resumed, scripts_are_text, text_model,
        shows_attention, shows_the_comparison, comparison_on_a_phone
    ]))

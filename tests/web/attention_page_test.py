"""The page of attention in a browser: what it shows is what the engine computed.

usage: attention_page_test.py TRAIN ATTENTION
"""

import json
import os
import subprocess
import sys
import tempfile

from browser import Browser
from cases import run_cases

TRAIN, ATTENTION = sys.argv[1:]
FOLDER = tempfile.TemporaryDirectory()
MARKUP = ["<script>alert(1)</script>", "</script>", '"', "&", "'", "<!--#exec"]
SOURCE = "a b c d"


def path(name):
    return os.path.join(FOLDER.name, name)


def train(name, *arguments):
    subprocess.run([TRAIN, "--out", path(name), *arguments], stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, timeout=300)


def train_all():
    task = ["--task", "reverse", "--symbols", "5", "--longest", "5", "--lr", "0.005"]
    train("transformer", *task, "--d-model", "16", "--d-ff", "32", "--num-heads", "2", "--steps", "80")
    train("gru", *task, "--model", "gru", "--hidden-size", "16", "--steps", "60")
    train("decoder_lm", *task, "--model", "decoder_lm", "--d-model", "16", "--d-ff", "32",
          "--steps", "20")
    with open(path("markup.tsv"), "w") as file:
        for i in range(36):
            line = " ".join(MARKUP[(i + k) % len(MARKUP)] for k in range(1 + i % 6))
            file.write(line + "\t" + line + "\n")
    train("markup", "--train", path("markup.tsv"), "--valid", path("markup.tsv"), "--d-model", "16",
          "--d-ff", "32", "--num-heads", "2", "--steps", "60")


def shown(*arguments):
    """The engine's JSON for the same call."""
    out = subprocess.run([ATTENTION, *arguments, "--format", "json"], stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL, check=True, timeout=120).stdout
    return [json.loads(line) for line in out.splitlines()]


class Page:
    """The page for a call in a browser, and the JSON; in the end it must have been quiet."""

    def __init__(self, *arguments, width=1280):
        self.arguments = arguments
        self.browser = Browser(width)

    def __enter__(self):
        name = path("page.html")
        subprocess.run([ATTENTION, *self.arguments, "--out", name], stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=True, timeout=120)
        self.answers = shown(*self.arguments)
        self.browser.__enter__()
        self.browser.open(name)
        return self

    def __exit__(self, *error):
        if error == (None, None, None):
            self.browser.check_quiet()
            self.browser.check_fits()
        self.browser.__exit__(*error)

    def texts(self, selector):
        return self.browser.run("return [...document.querySelectorAll(arguments[0])].map((e) => "
                                "e.textContent)", selector)

    def text(self, selector):
        return self.texts(selector)[0]

    def count(self, selector):
        return len(self.texts(selector))

    def choose(self, part, layer, head):
        self.browser.run("document.querySelector(arguments[0]).click()",
                         f".attention-head[data-part={part}][data-layer='{layer}'][data-head='{head}']")

    def switch(self, part, layer, head):
        self.browser.run("document.querySelector(arguments[0]).parentNode.querySelector('input').click()",
                         f".attention-head[data-part={part}][data-layer='{layer}'][data-head='{head}']")

    def read_cell(self, row, column):
        """Walks to a cell of the large map with the keys; what is said of it."""
        self.browser.run("document.querySelector('.attention-enlarged .heatmap').blur();"
                         "document.querySelector('.attention-enlarged .heatmap').focus()")
        cell = self.browser.run("const c = document.querySelector('.attention-enlarged .heat-cursor');"
                                "return c ? [Number(c.dataset.row), Number(c.dataset.column)] : [0, 0]")
        keys = [("\ue015" if row > cell[0] else "\ue013")] * abs(row - cell[0])
        keys += [("\ue014" if column > cell[1] else "\ue012")] * abs(column - cell[1])
        self.browser.press(*keys or ["\ue014", "\ue012"])
        return self.text(".attention-cell")


def find(answer, part, layer, head):
    return next(m for m in answer["attention"]
                if (m["part"], m["layer"], m["head"]) == (part, layer, head))


def value_of(said):
    return said.rsplit(": ", 1)[1]


def heads_and_cells():
    """every head has its small map; every cell of an enlarged one says the engine's number"""
    with Page("--checkpoint", path("transformer"), "--input", SOURCE) as page:
        [answer] = page.answers
        assert page.count(".attention-head") == len(answer["attention"]) == 12
        assert page.text("h2") == "transformer"
        for part, layer, head in [("answer_to_source", 1, 1), ("source", 0, 1), ("answer", 1, 0)]:
            page.choose(part, layer, head)
            want = find(answer, part, layer, head)
            assert page.text(".attention-closer h3") == f"layer {layer + 1}, head {head + 1}"
            numbers = page.texts(".attention-enlarged .heat-number")
            cells = [(q, k) for q, row in enumerate(want["weights"]) for k in range(len(row))
                     if want["masked"] is None or not want["masked"][q][k]]
            assert len(numbers) == len(cells), (len(numbers), len(cells))
            for number, (q, k) in zip(numbers, cells):
                assert abs(float(number) - want["weights"][q][k]) <= 0.000501, (number, q, k)
            q, k = len(want["queries"]) - 1, 1
            said = page.read_cell(q, k)
            assert abs(float(value_of(said)) - want["weights"][q][k]) < 1e-6, (said, want["weights"])
            assert want["queries"][q] in said and want["keys"][k] in said, said


def masked_cells():
    """masked cells are drawn and told as masked, not as zero"""
    with Page("--checkpoint", path("transformer"), "--input", SOURCE) as page:
        page.choose("answer", 0, 0)
        want = find(page.answers[0], "answer", 0, 0)
        hidden = sum(map(sum, want["masked"]))
        assert hidden == len(want["keys"]) * (len(want["keys"]) - 1) // 2
        assert page.count(".attention-enlarged .heat-masked") == hidden
        assert value_of(page.read_cell(0, 1)) == "masked"
        assert value_of(page.read_cell(1, 0)) != "masked"
        page.choose("answer_to_source", 0, 0)
        assert page.count(".attention-enlarged .heat-masked") == 0
        assert page.count(".attention-chip") > 0 and page.count(".attention-chip.attention-masked") == 0
        page.choose("answer", 0, 0)
        assert page.count(".attention-chip.attention-masked") == hidden


def steps():
    """each step has the token, its row of the map, and the five likeliest with probabilities"""
    with Page("--checkpoint", path("transformer"), "--input", SOURCE) as page:
        [answer] = page.answers
        page.choose("answer_to_source", 0, 1)
        want = find(answer, "answer_to_source", 0, 1)
        rows = page.browser.run("""return [...document.querySelectorAll(".attention-steps tbody tr")].map(
            (row) => ({writes: row.cells[1].querySelector("code").textContent,
                       chips: [...row.querySelectorAll(".attention-chip")].map((c) => c.title),
                       top: [...row.querySelectorAll("li")].map((li) =>
                         [li.querySelector("code").textContent, li.querySelector(".number").textContent])}))""")
        assert len(rows) == len(answer["steps"])
        for t, (row, step) in enumerate(zip(rows, answer["steps"])):
            assert row["writes"] == step["token"], (row, step)
            assert [token for token, _ in row["top"]] == [c["token"] for c in step["top"]], row
            for (_, text), choice in zip(row["top"], step["top"]):
                if "<" in text or ">" in text:
                    assert choice["probability"] < 0.001 or choice["probability"] > 0.999, (text, choice)
                else:
                    assert abs(float(text.split()[0]) / 100 - choice["probability"]) < 0.00051, (text, choice)
            for title, key, weight in zip(row["chips"], want["keys"], want["weights"][t]):
                name, number = title.split(": ")
                assert name == key and abs(float(number) - weight) < 0.00051, (title, key, weight)
        page.choose("source", 0, 0)
        assert page.count(".attention-chip") == 0 and page.count(".attention-top li") == 5 * len(rows)


def rows_of_a_language_model():
    """a language model's steps stand at the rows that write, behind the source"""
    with Page("--checkpoint", path("decoder_lm"), "--input", SOURCE) as page:
        [answer] = page.answers
        page.choose("sequence", 0, 0)
        want = find(answer, "sequence", 0, 0)
        first = want["first_step"]
        assert want["queries"][first] == "<bos>", want["queries"]
        masked = page.browser.run("""return [...document.querySelectorAll(".attention-steps tbody tr")].map(
            (row) => row.querySelectorAll(".attention-masked").length)""")
        n = len(want["keys"])
        assert masked == [n - 1 - first - t for t in range(len(answer["steps"]))], (masked, first, n)


def statistics():
    """the table has the engine's entropy and shares of every head of the part"""
    with Page("--checkpoint", path("gru"), "--input", SOURCE) as page:
        [want] = [m["statistics"] for m in page.answers[0]["attention"]]
        cells = page.texts(".attention-statistics td")
        assert cells == ["1.1", f"{want['entropy']:.2f} of {want['most_entropy']:.2f}",
                         f"{want['diagonal']:.2f}", f"{want['anti_diagonal']:.2f}",
                         f"{want['previous']:.2f}"], (cells, want)


def heads_on_and_off():
    """switching heads changes the lines and the mean of those that are on"""
    with Page("--checkpoint", path("transformer"), "--input", SOURCE) as page:
        [answer] = page.answers
        part = "answer_to_source"
        page.choose(part, 0, 0)
        maps = [m for m in answer["attention"] if m["part"] == part]

        def lines_of(some):
            return sum(weight >= 0.02 for m in some for row in m["weights"] for weight in row)

        assert page.count(".attention-line") == lines_of(maps)
        page.browser.run("document.querySelectorAll('.attention-choice button')[1].click()")
        assert page.text(".attention-closer h3") == "Mean of 4 heads of this part"
        mean = sum(m["weights"][1][2] for m in maps) / 4
        assert abs(float(value_of(page.read_cell(1, 2))) - mean) < 2e-6
        page.switch(part, 0, 1)
        page.switch(part, 1, 1)
        rest = [m for m in maps if m["head"] == 0]
        assert page.count(".attention-line") == lines_of(rest)
        mean = sum(m["weights"][1][2] for m in rest) / 2
        assert abs(float(value_of(page.read_cell(1, 2))) - mean) < 2e-6
        assert page.text(".attention-between h3") == "Lines of the 2 heads on"
        page.switch(part, 0, 0)
        page.switch(part, 1, 0)
        assert page.count(".attention-line") == 0
        assert "No head" in page.text(".attention-enlarged")


def keyboard():
    """arrows choose heads across parts, x and a switch them, m shows the mean; the focus stays"""
    with Page("--checkpoint", path("transformer"), "--input", SOURCE) as page:
        page.choose("source", 0, 0)
        page.browser.run("document.querySelector('.attention-head').focus()")

        def chosen():
            return page.browser.run("const b = document.querySelector('.attention-head[aria-pressed=true]');"
                                    "return b && [b.dataset.part, b.dataset.layer, b.dataset.head,"
                                    " b === document.activeElement]")

        assert chosen() == ["source", "0", "0", True]
        for key, want in [("\ue014", ["source", "0", "1", True]), ("\ue015", ["source", "1", "1", True]),
                          ("\ue015", ["answer", "0", "1", True]), ("\ue012", ["answer", "0", "0", True]),
                          ("\ue012", ["answer", "0", "0", True]), ("\ue013", ["source", "1", "0", True])]:
            page.browser.press(key)
            assert chosen() == want, (chosen(), want)
        checked = "return [...document.querySelectorAll('.attention-small input')].map((b) => b.checked)"
        page.browser.press("x")
        assert page.browser.run(checked) == [True, True, False, True] + [True] * 8
        page.browser.press("a")
        assert page.browser.run(checked) == [True] * 12
        page.browser.press("a")
        assert page.browser.run(checked) == [False] * 4 + [True] * 8
        page.browser.press("x", "m")
        assert chosen() is None and page.text(".attention-closer h3") == "Mean of 1 head of this part"
        page.browser.press("m")
        assert chosen() == ["source", "1", "0", True]
        page.browser.run("document.querySelector('.attention-enlarged .heatmap').focus()")
        page.browser.press("m")
        assert page.browser.run("return document.activeElement.classList.contains('heatmap')")


def pointing_shows_lines():
    """pointing at a token or a row of the map leaves only its lines"""
    with Page("--checkpoint", path("gru"), "--input", SOURCE) as page:
        visible = ("return [...document.querySelectorAll('.attention-line')].filter((l) => "
                   "l.getAttribute('visibility') !== 'hidden').map((l) => [l.dataset.query, l.dataset.key])")
        everything = page.browser.run(visible)
        page.read_cell(1, 0)
        one = page.browser.run(visible)
        assert one and {query for query, _ in one} == {"1"} and len(one) < len(everything), one
        page.browser.run("document.activeElement.blur()")
        assert page.browser.run(visible) == everything
        page.browser.run("document.querySelectorAll('.attention-key')[2].dispatchEvent("
                         "new PointerEvent('pointerenter'))")
        assert {key for _, key in page.browser.run(visible)} == {"2"}


def two_models():
    """a second model stands beside the first, its maps at the same height"""
    with Page("--checkpoint", path("transformer"), "--compare", path("gru"), "--input", SOURCE) as page:
        assert page.texts("h2") == ["transformer", "gru with additive attention"]
        boxes = page.browser.run("return [...document.querySelectorAll('.attention-closer')].map((e) => "
                                 "[e.getBoundingClientRect().left, e.getBoundingClientRect().top])")
        assert boxes[0][1] == boxes[1][1] and boxes[0][0] < boxes[1][0], boxes
        numbers = page.browser.run("""return [...document.querySelectorAll(".attention-enlarged")].map((e) =>
            [...e.querySelectorAll(".heat-number")].map((t) => Number(t.textContent)))""")
        want = [w for row in page.answers[1]["attention"][0]["weights"] for w in row]
        assert all(abs(a - b) <= 0.000501 for a, b in zip(numbers[1], want)), (numbers, want)


def markup_is_text():
    """B18, VIS1: tokens that are markup are shown as typed, nothing of them runs"""
    for name in ["markup", "gru"]:  # in the vocabulary, and not
        with Page("--checkpoint", path(name), "--input", " ".join(MARKUP)) as page:
            keys = find(page.answers[0], "answer_to_source", 0, 0)["keys"]
            assert keys == MARKUP, keys
            assert page.count("script") == 2, page.count("script")  # data and code
            assert set(MARKUP) <= set(page.texts(".attention-chip")), page.texts(".attention-chip")
            assert page.texts(".attention-key title")[:6] == MARKUP
            assert page.text(".attention-answer code") == " ".join(MARKUP)
            assert ("read as <unk>" in page.text(".attention-answer")) == (name == "gru")


def narrow():
    """on a phone nothing is wider than the view, and models stand below each other"""
    for arguments in [["--input", SOURCE], ["--input", SOURCE, "--compare", path("gru")]]:
        with Page("--checkpoint", path("transformer"), *arguments, width=390) as page:
            page.choose("answer", 1, 1)
            assert page.count(".attention-enlarged .heat-masked") > 0
            page.browser.check_fits()


def large():
    """a source of 40 tokens makes a page that is small enough, and works"""
    with Page("--checkpoint", path("transformer"), "--input", "a b c d e " * 8) as page:
        page.choose("source", 1, 0)
        want = find(page.answers[0], "source", 1, 0)
        assert abs(float(value_of(page.read_cell(2, 3))) - want["weights"][2][3]) < 1e-6
        assert page.count(".attention-head") == 12


if __name__ == "__main__":
    train_all()
    sys.exit(run_cases([
        heads_and_cells, masked_cells, steps, rows_of_a_language_model, statistics, heads_on_and_off,
        keyboard, pointing_shows_lines, two_models, markup_is_text, narrow, large,
    ]))

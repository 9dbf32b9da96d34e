"""Pages of step_pages.cpp and of lessons, opened in a browser; for the tests of the step page.

The tests are called with STEP_PAGES STEP_THROUGH: the programs of step_pages.cpp, step_through.cpp.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

from browser import Browser
from cases import Skipped, run_cases  # noqa: F401

REST = 0.5  # seconds until the fragment follows
FOLDER = tempfile.TemporaryDirectory(prefix="gradzoo-step-")


def make_pages():
    subprocess.run([sys.argv[1], FOLDER.name], check=True)


def lesson_page(number):
    """The path of a lesson's page."""
    path = os.path.join(FOLDER.name, f"lesson{number}.html")
    subprocess.run([sys.argv[2], number, "--html", path], check=True)
    return path


def needs_dot():
    if shutil.which("dot") is None:
        raise Skipped("no Graphviz here (Debian: graphviz)")


def go(browser, step):
    """To a step by the address."""
    browser.run("location.hash = `#step=${arguments[0]}`", step)
    browser.run("return new Promise((done) => setTimeout(done, 50))")


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
    return browser.run("return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)",
                       selector)


def shown(browser, what):
    """The numbers that stand in the heat maps of a part of the card."""
    return [float(text) for text in texts(browser, f"[data-shows='{what}'] .heat-number")]


def close(found, expected, digits):
    assert len(found) == len(expected), f"{found} instead of {expected}"
    for one, other in zip(found, expected):
        tolerance = 0.51 * 10 ** (1 - digits) * max(abs(other), 1e-12)
        assert abs(one - other) <= tolerance, f"{found}, not {expected}"


def press(browser, *keys):
    from selenium.webdriver.common.keys import Keys
    browser.press(*(getattr(Keys, key, key) for key in keys))


def find(browser, selector):
    return browser.driver.find_elements("css selector", selector)


def point(browser, element):
    """The mouse moves there."""
    from selenium.webdriver.common.action_chains import ActionChains
    ActionChains(browser.driver).move_to_element(element).perform()

"""That the browser tests see what they must see: a page that asks for more, or fails, is noticed.

usage: browser_test.py
"""

import os
import sys
import tempfile

from browser import Browser
from cases import run_cases

QUIET = "<!DOCTYPE html><title>quiet</title><p>text</p>"
ASKING = "<!DOCTYPE html><title>asking</title><img src='http://gradzoo.invalid/picture.png'>"
FAILING = "<!DOCTYPE html><title>failing</title><script>throw new Error('broken on purpose')</script>"
WIDE = "<!DOCTYPE html><title>wide</title><div style='width: 5000px'>wide</div>"


def opened(html, check):
    """Runs check(browser) on a page; the complaint it raised, or None."""
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        path = os.path.join(folder, "page.html")
        with open(path, "w", encoding="utf-8") as file:
            file.write(html)
        browser.open(path)
        try:
            check(browser)
        except AssertionError as complaint:
            return str(complaint)
    return None


def quiet_page():
    """a page that asks for nothing passes"""
    assert opened(QUIET, Browser.check_quiet) is None
    assert opened(QUIET, Browser.check_fits) is None


def request_is_noticed():
    """a page that asks for a picture from elsewhere is noticed"""
    assert "picture.png" in (opened(ASKING, Browser.check_quiet) or "")


def error_is_noticed():
    """a page whose script fails is noticed"""
    assert "broken on purpose" in (opened(FAILING, Browser.check_quiet) or "")


def width_is_noticed():
    """a page wider than the view is noticed"""
    assert "wide" in (opened(WIDE, Browser.check_fits) or "")


if __name__ == "__main__":
    sys.exit(run_cases([quiet_page, request_is_noticed, error_is_noticed, width_is_noticed]))

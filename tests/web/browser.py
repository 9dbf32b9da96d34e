"""Pages in a real browser: headless Chromium, with everything it asks for and complains about.

Needs Debian's chromium, chromium-driver and python3-selenium; a test says so where they are not.
"""

import json
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples"))
from cases import Skipped  # noqa: E402

MOST_BYTES = 2_000_000  # of a page


class Browser:
    """Chromium for the length of a `with`; open() gives the driver a page of this disk."""

    def __init__(self, width=1280, height=800):
        self.size = width, height

    def __enter__(self):
        try:
            from selenium import webdriver
            from selenium.webdriver.chrome.service import Service
        except ImportError:
            raise Skipped("no selenium here (Debian: python3-selenium)") from None
        chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
        if chromium is None or driver is None:
            raise Skipped("no Chromium here (Debian: chromium, chromium-driver)")
        self.profile = tempfile.TemporaryDirectory(prefix="gradzoo-web-", ignore_cleanup_errors=True)
        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        # No sandbox: tests may run as root. No network: what a page asks for must not depend on it.
        for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu",
                         "--host-resolver-rules=MAP * ~NOTFOUND", "--disable-background-networking",
                         f"--user-data-dir={self.profile.name}",
                         f"--window-size={self.size[0]},{self.size[1]}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service(driver), options=options)
        # The viewport, which a narrow window would not give.
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": self.size[0], "height": self.size[1], "deviceScaleFactor": 1,
            "mobile": self.size[0] < 600})
        self.requests, self.complaints = [], []
        self.driver.get("about:blank")
        self._read_logs()  # of the browser's own first page
        self.requests, self.complaints = [], []
        return self

    def __exit__(self, *_):
        self.driver.quit()
        self.profile.cleanup()

    def open(self, path, fragment=""):
        size = os.path.getsize(path)
        assert size < MOST_BYTES, f"{path} has {size} bytes"
        self.driver.get("file://" + os.path.abspath(path) + fragment)
        return self.driver

    def run(self, script, *arguments):
        """What the page's JavaScript returns for `script`, e.g. "return document.title"."""
        return self.driver.execute_script(script, *arguments)

    def press(self, *keys):
        """Keys as a user presses them, on whatever has the focus."""
        from selenium.webdriver.common.action_chains import ActionChains
        ActionChains(self.driver).send_keys(*keys).perform()

    def screenshot(self, path):
        self.driver.save_screenshot(path)

    def _read_logs(self):
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                self.requests.append(message["params"]["request"]["url"])
        for entry in self.driver.get_log("browser"):
            self.complaints.append(entry["message"])

    def check_quiet(self):
        """Nothing was asked for but pages of this disk, and nothing was written to the console."""
        self._read_logs()
        foreign = [url for url in self.requests if not url.startswith(("file://", "data:"))]
        assert self.requests and not foreign, f"requests: {foreign or 'none were seen at all'}"
        assert not self.complaints, f"console: {self.complaints}"

    def check_fits(self):
        """The page needs no scrolling to the side."""
        wide, view = self.run("const d = document.documentElement; return [d.scrollWidth, d.clientWidth]")
        assert wide <= view, f"{wide} pixels wide in a view of {view}"

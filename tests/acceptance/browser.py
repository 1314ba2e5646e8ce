"""A signed-in user's window in a real browser."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.acceptance.system import System

# Without the windows and menus of a browser, Chromium needs less than half of the processor time.
PROGRAMS = ("chromium-headless-shell", "chromium")
MISSING = "There is no Chromium here: apt-get install chromium-headless-shell"
# Chromium reads only the last list of features, so this one contains Playwright's.
DISABLED_FEATURES = [
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades"),
    *("HttpsFirstBalancedModeAutoEnable", "LensOverlay", "MediaRouter", "PaintHolding"),
    *("ThirdPartyStoragePartitioning", "AvoidCorsURLLoaderRestartOnRedirect", "OptimizationHints"),
    *("NetworkTimeServiceQuerying", "AimEnabled", "PreconnectToSearch"),
    # Each window would start three more processes: two for the field of its address, and one in reserve.
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "SpareRendererForSitePerProcess"),
]
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
    # Each page is new, and left before code that is compiled for speed, or by other threads, pays off.
    "--js-flags=--no-opt,--always-sparkplug,--single-threaded",
    f"--disable-features={','.join(DISABLED_FEATURES)}",
]
WAIT_MS = 60_000


def find_chromium() -> str | None:
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


def need_chromium() -> None:
    if find_chromium() is None:
        assert os.environ.get("DURE_CI") != "1", MISSING
        pytest.skip(MISSING)


@contextmanager
def launched() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        yield running
        running.close()


class Window:
    """A browser window. Errors in the console and requests to other servers fail the test."""

    def __init__(self, browser: Any, stack: System, locale: str, **more: Any) -> None:
        self.stack = stack
        self.context = browser.new_context(base_url=stack.base_url, locale=locale, **more)
        self.page = self.context.new_page()
        self.page.set_default_timeout(WAIT_MS)
        self.complaints: list[str] = []
        self.foreign_requests: list[str] = []
        self.page.on("console", self.record_error)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", self.record_foreign_request)

    def record_error(self, message: Any) -> None:
        if message.type == "error":
            self.complaints.append(message.text)

    def record_foreign_request(self, request: Any) -> None:
        if not request.url.startswith((self.stack.base_url, "data:")):
            self.foreign_requests.append(request.url)

    def sign_in(self, username: str, path: str = "/") -> Any:
        sign_in(self.page, self.stack, username, path)
        return self.page


def sign_in(page: Any, stack: System, username: str, path: str = "/") -> None:
    """Opens the page at this path as this user."""
    if username not in stack.cookies:
        use_form(page, stack, username)
        stack.cookies[username] = page.context.cookies()
    page.context.add_cookies(stack.cookies[username])
    page.goto(path)


def use_form(page: Any, stack: System, username: str) -> None:
    """Its check of a password uses a third of a second of the processor."""
    page.goto("/")
    page.fill("#id_username", username)
    page.fill("#id_password", stack.user(username)["password"])
    page.click("main button")
    page.wait_for_selector("#tile-waiting")

"""Somebody signs in with a real browser and looks after their work."""

import os
import re
import shutil
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.acceptance.system import System

CHROMIUM = shutil.which("chromium")
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
]
WAIT_MS = 20_000

if not CHROMIUM and os.environ.get("DURE_CI") != "1":
    pytest.skip("there is no chromium here: apt-get install chromium", allow_module_level=True)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    assert CHROMIUM, "DURE_CI is 1, and chromium is missing"
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield running
        running.close()


class Window:
    """A reader's window; what its pages complain about fails the test."""

    def __init__(self, browser: Any, stack: System, locale: str, **more: Any) -> None:
        self.stack = stack
        self.context = browser.new_context(base_url=stack.base_url, locale=locale, **more)
        self.page = self.context.new_page()
        self.page.set_default_timeout(WAIT_MS)
        self.complaints: list[str] = []
        self.strangers: list[str] = []
        self.page.on("console", self.said)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", self.asked)

    def said(self, message: Any) -> None:
        if message.type == "error":
            self.complaints.append(message.text)

    def asked(self, request: Any) -> None:
        if not request.url.startswith((self.stack.base_url, "data:")):
            self.strangers.append(request.url)

    def sign_in(self, username: str) -> Any:
        self.page.goto("/")
        self.page.fill("#id_username", username)
        self.page.fill("#id_password", self.stack.user(username)["password"])
        self.page.click("main button")
        self.page.wait_for_selector("#tile-waiting")
        return self.page


@pytest.fixture
def window(browser: Any, stack: System) -> Iterator[Any]:
    opened: list[Window] = []

    def open_one(locale: str = "en", **more: Any) -> Window:
        opened.append(Window(browser, stack, locale, **more))
        return opened[-1]

    yield open_one
    for one in opened:
        one.context.close()
        assert one.complaints == []
        assert one.strangers == []


@pytest.fixture(scope="module")
def office(system: System) -> Iterator[str]:
    """One of our own: the slots of the demonstration's are taken by its own jobs."""
    if system.has_ended():
        system.start()
    made = system.client("alice").post("/api/offices", {"name": "Browser tests"})
    assert made.status == 201, made.body
    yield str(made.json["id"])
    if not system.has_ended():
        system.client("alice").send("DELETE", f"/api/offices/{made.json['id']}")


def submit(stack: System, office: str, **job: Any) -> dict[str, Any]:
    body = {"task_id": "demo.sum", "args": {"numbers": [20, 22]}, **job}
    answer = stack.client("alice").post(f"/api/offices/{office}/jobs", body)
    assert answer.status == 201, answer.body
    return dict(answer.json)


def tomorrow() -> str:
    return (datetime.now(UTC) + timedelta(days=1)).isoformat()


def test_a_job_submitted_by_the_api_appears_runs_and_shows_its_result(stack, window, office):
    page = window().sign_in("alice")
    assert page.locator("h1").inner_text() == "Monitor"
    job = submit(stack, office, ref="seen in the browser", args={"numbers": [20, 22]})
    page.click(f"#office-{office}")
    page.click("text=seen in the browser")
    page.wait_for_url(f"**/jobs/{job['id']}")
    # The page asks again by itself until the result is there.
    # Both of the worker's processes may be asleep in jobs of the demonstration when this begins.
    page.locator("#live pre", has_text=re.compile("^42$")).wait_for(timeout=60_000)
    assert "done" in page.locator("#live h2").first.inner_text()


def test_the_monitor_refreshes_itself_and_can_be_paused(window):
    page = window().sign_in("alice")
    page.wait_for_function("() => document.getElementById('updated').textContent.startsWith('updated')")
    with page.expect_response("**/monitor/live", timeout=WAIT_MS) as answer:
        pass
    assert answer.value.status == 200
    pause = page.locator("#pause")
    pause.click()
    assert (pause.inner_text(), pause.get_attribute("aria-pressed")) == ("Go on", "true")


def test_a_page_tells_what_happens_before_it_would_have_asked(stack, window, office):
    job = submit(stack, office, ref="watched", run_at=tomorrow())
    page = window().sign_in("alice")
    # Listened to from before the page is there: its first frame comes as soon as the socket is open.
    heard: list[str] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: heard.append(str(frame))))
    page.goto(f"/offices/{office}/jobs/{job['id']}")
    until = time.monotonic() + 20
    while not any("snapshot" in frame for frame in heard):
        assert time.monotonic() < until, "the socket told nothing"
        page.wait_for_timeout(50)
    stack.client("alice").post(f"/api/offices/{office}/jobs/{job['id']}/cancel")
    # Without the socket it would take ten seconds.
    page.locator("#live h2", has_text="cancelled").wait_for(timeout=6_000)


def test_jobs_are_cancelled_after_a_look_at_what_would_be_skipped(stack, window, office):
    jobs = [
        submit(stack, office, ref=f"far away {number}", role="PO", run_at=tomorrow()) for number in range(2)
    ]
    page = window().sign_in("alice")
    page.goto(f"/offices/{office}/jobs?status=pending&role=PO&task_id=demo.sum")
    for job in jobs:
        page.check(f"input[value='{job['id']}']")
    page.click("button[value=cancel]")
    assert page.locator("h1").inner_text() == "Cancel 2 jobs"
    page.fill("#id_reason", "tried in the browser")
    page.click("button[name=sure]")
    assert "2 jobs cancelled." in page.locator(".messages").inner_text()
    page.goto(f"/offices/{office}/jobs/{jobs[0]['id']}")
    assert "tried in the browser" in page.locator("#live").inner_text()


@pytest.fixture
def viewer(stack: System, office: str) -> Iterator[str]:
    alice, members = stack.client("alice"), f"/api/offices/{office}/members"
    assert alice.post(members, {"username": "bob", "role": "viewer"}).status in (200, 201)
    yield "bob"
    alice.send("DELETE", f"{members}/bob")


def test_a_viewer_has_nothing_to_press(stack, window, office, viewer):
    job = submit(stack, office, ref="only to look at", run_at=tomorrow())
    page = window().sign_in(viewer)
    page.goto(f"/offices/{office}/jobs/{job['id']}")
    assert "Is not to run before 2" in page.locator("#live").inner_text()
    assert page.locator("main form").count() == 0
    page.goto(f"/offices/{office}/jobs")
    assert page.locator("main input[name=job]").count() == 0
    stack.client("alice").post(f"/api/offices/{office}/jobs/{job['id']}/cancel")


def test_it_speaks_korean_and_fits_a_phone(stack, window):
    page = window("ko", viewport={"width": 375, "height": 800}, color_scheme="dark").sign_in("alice")
    assert page.locator("html").get_attribute("lang") == "ko"
    assert page.locator("h1").inner_text() == "모니터"
    demo = f"/offices/{stack.office_id}"
    batch = stack.client("alice").get(f"/api{demo}/batches").json["results"][0]["id"]
    for path in ("/", "/offices", f"{demo}/jobs", f"{demo}/batches", f"{demo}/batches/{batch}"):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 375, path
    page.click("button[lang=en]")
    assert page.locator("html").get_attribute("lang") == "en"

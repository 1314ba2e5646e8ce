"""A user uploads a replay in a real browser, follows its export, and plays the video."""

import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from redis import Redis

from config import dev
from exports import sample_replay
from tests.acceptance.axe import violations
from tests.acceptance.system import System

# The exporter may be busy with the demo's export, or with another test's, when a test begins.
MAKING_MS = 120_000

EXPORT = re.compile(r"/exports/\d+$")
REPLAY = re.compile(r"/exports/replays/\d+$")
LETTER = re.compile(r"/deadletters/\d+$")
BAR = "#exports progress"
REPLAYS = "/exports/replays"
PHONE = {"width": 375, "height": 800}


@pytest.fixture
def event_log_file(tmp_path: Path):
    """Writes an event log of so many seconds and returns its file."""

    def write(seconds: float, title: str = "Final of the browsers") -> Path:
        file = tmp_path / "match.jsonl"
        file.write_text("\n".join(sample_replay.event_log(seconds, title=title)))
        return file

    return write


def upload(page: Any, file: Path) -> None:
    page.set_input_files("#id_file", file)
    page.click("#upload button")
    page.wait_for_url(REPLAY)
    assert "The replay was uploaded." in page.locator(".messages").inner_text()


def start_export(page: Any, kind: str) -> None:
    page.click(f"main button[formaction$='/{kind}']")
    page.wait_for_url(EXPORT)


def wait_for_state(page: Any, word: str) -> None:
    page.locator("#exports .state", has_text=word).wait_for(timeout=MAKING_MS)


def percent(page: Any) -> int:
    return int(page.locator(BAR).evaluate("bar => bar.value"))


@contextmanager
def delayed(page: Any, address: str) -> Iterator[None]:
    """Delays the answers to requests to the URL until the block ends."""
    held: list[Any] = []
    page.route(address, lambda route: held.append(route))
    yield
    page.unroute(address)
    for route in held:
        route.continue_()


def plays(page: Any) -> None:
    """Starts by a key, then seeks far ahead, which needs a range."""
    video = page.locator("video")
    video.focus()
    page.keyboard.press("Space")
    page.wait_for_function("() => document.querySelector('video').currentTime > 0.3")
    assert video.evaluate("film => [film.videoWidth, film.videoHeight, film.error]") == [1280, 720, None]
    assert video.evaluate("film => film.readyState") >= 2
    seek = (
        "f => new Promise(done => { f.onseeked = () => done(f.currentTime); f.currentTime = f.duration - 1 })"
    )
    assert video.evaluate(seek) > 10


def test_a_replay_becomes_a_video_that_plays_in_the_page(window, event_log_file):
    page = window().sign_in("alice", REPLAYS)
    answers: dict[str, int] = {}
    page.on("response", lambda answer: answers.update({answer.url.rpartition("/api/")[2]: answer.status}))
    upload(page, event_log_file(12))
    start_export(page, "mp4")
    number = page.url.rpartition("/")[2]
    wait_for_state(page, "Succeeded")
    assert "Video of" in str(page.locator("video").get_attribute("aria-label"))
    if page.evaluate("document.createElement('video').canPlayType('video/mp4; codecs=\"avc1.640028\"')"):
        plays(page)
        assert answers[f"jobs/{number}/result"] == 206
    with page.expect_download() as saved:
        page.click("#download")
    assert saved.value.suggested_filename == "Final of the browsers.mp4"
    assert b"ftyp" in Path(saved.value.path()).read_bytes()[:12]


def test_a_thumbnail_appears_without_a_socket_too_and_to_its_owner_only(window, event_log_file):
    own = window()
    # The page polls instead.
    own.page.route_web_socket("**/ws/jobs**", lambda socket: socket.close())
    page = own.sign_in("alice", REPLAYS)
    upload(page, event_log_file(2, "Only hers"))
    replay = page.url
    start_export(page, "thumbnail")
    wait_for_state(page, "Succeeded")
    picture = page.locator("figure img")
    assert picture.evaluate("i => i.decode().then(() => [i.naturalWidth, i.naturalHeight])") == [1280, 720]
    assert "Only hers" in str(picture.get_attribute("alt"))
    bob = window()
    bob.sign_in("bob", "/exports")
    assert "Only hers" not in bob.page.content()
    for address in (page.url, replay, page.url.replace("/exports/", "/api/jobs/") + "/result"):
        assert bob.page.goto(address).status == 404
        bob.complaints.clear()  # the console reports the 404 as an error


def test_the_socket_moves_the_bar_and_shows_a_cancel_in_another_window(window, event_log_file):
    page = window().sign_in("alice", REPLAYS)
    upload(page, event_log_file(600))  # long enough that it cannot end before it is cancelled
    start_export(page, "mp4")
    page.locator(BAR).wait_for(timeout=MAKING_MS)
    with delayed(page, "**/exports/parts**"):
        # Only the socket can move the bar now.
        before = percent(page)
        page.wait_for_function(f"() => document.querySelector('{BAR}').value > {before}")
    other = window().sign_in("alice", "/exports")
    row = other.locator(f"[data-export='{page.url.rpartition('/')[2]}']")
    page.click("#cancel")
    assert "The export was cancelled." in page.locator(".messages").inner_text()
    row.locator(".state", has_text="Cancelled").wait_for()
    assert "Cancelled" in other.locator("#announcement").inner_text()
    page.click("#again")
    page.wait_for_url(EXPORT)
    page.click("#cancel")
    wait_for_state(page, "Cancelled")


@contextmanager
def frozen(stack: System, program: str) -> Iterator[None]:
    """A suspended process of the system."""
    (pid,) = [pid for pid, (name, _) in stack.processes().items() if name == program]
    psutil.Process(pid).suspend()
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def test_the_page_shows_that_the_listener_is_down(stack, window, event_log_file):
    page = window().sign_in("alice", REPLAYS)
    upload(page, event_log_file(1))
    with frozen(stack, "listener"):
        start_export(page, "thumbnail")
        page.locator("#exports", has_text="Waiting to be sent: Redis or the listener is down.").wait_for()
    wait_for_state(page, "Succeeded")


def redis_of(stack: System) -> Redis:
    servers = dev.running_servers(stack.home)
    return Redis.from_url(os.environ["REDIS_URL"] if servers is None else servers.redis)


def assert_accessible(page: Any) -> None:
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], page.url
    assert violations(page) == [], page.url


@pytest.mark.parametrize(
    ("language", "heading", "scheme"), [("en", "Replays", "light"), ("ko", "리플레이", "dark")]
)
def test_axe_finds_no_violations_on_a_phone(stack, window, event_log_file, language, heading, scheme):
    page = window(language, viewport=PHONE, color_scheme=scheme).sign_in("admin")
    with redis_of(stack) as redis:
        name = redis.xadd("job.results", {"j" * 64: "1" * 5_000}).decode()
    page.goto("/exports/replays")
    assert page.locator("h1").inner_text() == heading
    assert_accessible(page)
    page.set_input_files("#id_file", event_log_file(1, "긴 제목" * 40))
    page.click("#upload button")
    page.wait_for_url(REPLAY)
    assert_accessible(page)
    start_export(page, "mp4")
    assert_accessible(page)
    page.locator("video").wait_for(timeout=MAKING_MS)
    assert_accessible(page)
    page.goto("/exports")
    assert_accessible(page)
    page.goto("/deadletters")
    assert_accessible(page)
    page.click(f"text={name}")
    page.wait_for_url(LETTER)
    assert_accessible(page)
    page.click(".danger")
    page.locator("button[name=sure]").wait_for()
    assert_accessible(page)
    page.click("button[name=sure]")

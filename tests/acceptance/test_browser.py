"""The pages of jobs and batches in a real browser."""

import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.acceptance.axe import violations
from tests.acceptance.browser import WAIT_MS
from tests.acceptance.system import System
from tests.acceptance.test_steps import provisioning
from tests.unit.process_tools import eventually


def submit(stack: System, office: str, **job: Any) -> dict[str, Any]:
    body = {"task_id": "demo.sum", "args": {"numbers": [20, 22]}, **job}
    return dict(stack.client("alice").create(f"/api/offices/{office}/jobs", body))


def status_of(stack: System, office: str, job: dict[str, Any]) -> str:
    return str(stack.client("alice").get(f"/api/offices/{office}/jobs/{job['id']}").json["status"])


def tomorrow() -> str:
    return (datetime.now(UTC) + timedelta(days=1)).isoformat()


def test_a_job_submitted_by_the_api_appears_runs_and_shows_its_result(stack, window, office):
    page = window().sign_in("alice")
    assert page.locator("h1").inner_text() == "Overview"
    job = submit(stack, office, ref="seen in the browser", args={"numbers": [20, 22]})
    page.click(f"#office-{office}")
    page.click("text=seen in the browser")
    page.wait_for_url(f"**/jobs/{job['id']}")
    # The page refreshes by itself until the result is there.
    # All of the worker's processes may be asleep in jobs of the demonstration when this begins.
    page.locator("#live pre", has_text=re.compile("^42$")).wait_for()
    assert "Succeeded" in page.locator("#live h2").first.inner_text()


def test_the_overview_refreshes_every_ten_seconds_until_it_is_paused(window):
    page = window().sign_in("alice")
    # Events would refresh it earlier.
    page.add_init_script("window.WebSocket = class extends EventTarget {}")
    page.clock.install()
    page.goto("/")
    page.wait_for_function("() => document.getElementById('updated').textContent.startsWith('Updated')")
    # In seconds, and far enough ahead that a slow answer of the browser does not make it the past.
    page.clock.pause_at(page.evaluate("() => Date.now() / 1000 + 60"))
    # After this leap of the clock the page refreshes itself.
    page.wait_for_function("() => !document.querySelector('#live.htmx-request, #live.htmx-swapping')")
    # The charts are requested too, once.
    page.evaluate(
        "addEventListener('htmx:beforeRequest', event => {"
        " if (event.target.id === 'live') [window.requestedAt, window.answered] = [Date.now(), false]; });"
        "addEventListener('htmx:afterSwap', event => {"
        " if (event.target.id === 'live') window.answered = true; })"
    )
    # The answer arrives a little after the request: no multiple of this step is a whole second.
    while (first := page.evaluate("window.requestedAt")) is None:
        page.clock.run_for(37)
    page.wait_for_function("() => window.answered")
    page.clock.run_for(first + 10_000 - page.evaluate("Date.now()"))
    assert page.evaluate("window.requestedAt") == first + 10_000
    page.wait_for_function("() => window.answered")
    pause = page.locator("#pause")
    pause.click()
    assert (pause.inner_text(), pause.get_attribute("aria-pressed")) == ("Resume auto-refresh", "true")
    page.clock.run_for(30_000)
    assert page.evaluate("window.requestedAt") == first + 10_000


# Makes the refresh interval longer than a test.
LONG_INTERVAL = """new MutationObserver(() => {
  const live = document.getElementById("live");
  if (live) live.dataset.seconds = "600";
}).observe(document, {childList: true, subtree: true});"""


def frames_of(page: Any) -> list[str]:
    """What its sockets receive from now on."""
    frames: list[str] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: frames.append(str(frame))))
    return frames


def test_an_event_refreshes_a_page_before_its_interval(stack, window, office):
    job = submit(stack, office, ref="watched", run_at=tomorrow())
    own = window()
    # The test listens before the page opens: the first frame arrives as soon as the socket is open.
    events = frames_of(own.page)
    own.page.add_init_script(LONG_INTERVAL)
    page = own.sign_in("alice", f"/offices/{office}/jobs/{job['id']}")
    until = time.monotonic() + 60
    while not any("snapshot" in frame for frame in events):
        assert time.monotonic() < until, "the socket told nothing"
        page.wait_for_timeout(50)
    page.fill("input[name=priority]", "7")
    with page.expect_response("**/live", timeout=WAIT_MS):
        page.evaluate("document.activeElement.blur(); window.htmx.trigger('#live', 'tick')")
    page.wait_for_function("() => !document.querySelector('#live.htmx-request, #live.htmx-swapping')")
    assert page.input_value("input[name=priority]") == "7"
    stack.client("alice").post(f"/api/offices/{office}/jobs/{job['id']}/cancel")
    # Without the socket it would take ten minutes.
    page.locator("#live h2", has_text="cancelled").wait_for()
    assert page.locator("main button", has_text="Retry").count() == 1
    assert page.locator("main button.danger").count() == 0


def test_a_run_links_to_its_messages_in_flower_for_staff(browser, stack, window, office):
    job, other = (submit(stack, office, ref=f"for flower {number}") for number in range(2))
    assert eventually(lambda: {status_of(stack, office, each) for each in (job, other)} == {"done"}, 60)
    page = window().sign_in("admin", f"/offices/{office}/jobs/{job['id']}")
    link = page.locator("a[id^=flower-]")
    run = str(link.get_attribute("id")).removeprefix("flower-")
    expected = stack.credentials["flower"]
    context = browser.new_context(
        http_credentials={"username": expected["user"], "password": expected["password"]}
    )
    try:
        flower = context.new_page()
        flower.set_default_timeout(WAIT_MS)

        def matches() -> str:
            flower.goto(link.get_attribute("href"))
            flower.wait_for_selector("#tasks-table tbody td")
            return str(flower.locator("#tasks-table_info").inner_text())

        # Flower learns of the run by an event, which may arrive shortly after the result.
        assert eventually(lambda: matches().startswith("Showing 1 to 1 of 1 tasks")), matches()
        flower.click("#tasks-table tbody a[href*='/task/']")
        flower.locator("body", has_text=run).wait_for()
    finally:
        context.close()


def test_a_batch_page_follows_the_batch_to_its_end(stack, window, office):
    work = {"task_id": "demo.sum", "args": {"numbers": [1]}}
    jobs = [{"ref": "a", **work}, {"ref": "b", "depends_on": ["a"], **work}]
    body = {"batch": {"name": "watched"}, "jobs": jobs}
    made = stack.client("alice").create(f"/api/offices/{office}/jobs", body)
    page = window().sign_in("alice", f"/offices/{office}/batches/{made['batch']['id']}")
    page.evaluate("window.stillTheSamePage = true")
    page.locator("#live .row", has_text="100%").wait_for()
    assert page.locator("#graph a.tone-good").count() == 2
    assert page.evaluate("window.stillTheSamePage")
    # A press whose release goes to a menu does not keep the part as it was.
    page.hover("#live a:has-text('View jobs')")
    page.mouse.down()
    page.evaluate(
        "document.querySelector('#live section').dispatchEvent(new Event('contextmenu', {bubbles: true}))"
    )
    page.evaluate("window.press.end")
    page.evaluate("document.querySelector('#live section').id = 'before'")
    page.evaluate("htmx.trigger('#live', 'tick')")
    page.wait_for_selector("#before", state="detached")
    page.mouse.up()
    # A link that is pressed when a refresh arrives is still there when it is released.
    page.hover("#live a:has-text('View jobs')")
    page.mouse.down()
    with page.expect_response("**/live*") as answer:
        page.evaluate("htmx.trigger('#live', 'tick')")
    answer.value.finished()
    page.mouse.up()
    page.wait_for_url("**/jobs?batch=*")


@pytest.fixture
def wide_batch(stack: System, office: str) -> Iterator[str]:
    """A batch whose drawing is larger than a window: n0 has failed, nothing else runs."""
    refused = {"task_id": "command.run", "args": {"command": "not-allowed"}, "max_retries": 0}
    waits = {"task_id": "demo.sum", "args": {"numbers": [1]}, "run_at": tomorrow()}
    jobs = [{"ref": "n0", **refused}] + [
        {"ref": f"n{number}", **waits} | ({"depends_on": [f"n{number - 10}"]} if number > 10 else {})
        for number in range(1, 131)
    ]
    alice = stack.client("alice")
    made = alice.create(f"/api/offices/{office}/jobs", {"batch": {"name": "wide"}, "jobs": jobs})
    batch = str(made["batch"]["id"])
    failed = f"/api/offices/{office}/jobs?batch={batch}&status=failed"
    # All of the worker's processes may be asleep in jobs of the demonstration.
    assert eventually(lambda: len(alice.get(failed).json["results"]) == 1, seconds=60)
    yield batch
    alice.post(f"/api/offices/{office}/jobs/cancel-all", {"batch": batch})


def view_of(page: Any) -> tuple[int, int, int]:
    """The position and the width of the drawing."""
    view = page.evaluate(
        "(() => { const one = document.querySelector('#graph');"
        " return [one.scrollLeft, one.scrollTop, one.querySelector('svg').clientWidth]; })()"
    )
    return (view[0], view[1], view[2])


def refresh(page: Any) -> None:
    page.evaluate("document.querySelector('#graph').dataset.before = 'yes'")
    page.evaluate("document.activeElement.blur(); window.htmx.trigger('#live', 'tick')")
    page.wait_for_function("() => !document.querySelector('#graph').dataset.before")


def test_a_large_graph_is_moved_and_zoomed_and_stays_so_after_a_refresh(window, office, wide_batch):
    page = window().sign_in("alice", f"/offices/{office}/batches/{wide_batch}")
    left, top, width = view_of(page)
    assert page.locator("#graph").evaluate("one => one.scrollWidth > one.clientWidth")
    page.locator("#graph").evaluate("one => one.scrollIntoView()")
    frame = page.locator("#graph").bounding_box()
    x, y = frame["x"] + 500, frame["y"] + 150
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 120, y - 40, steps=4)
    page.mouse.up()
    assert view_of(page) == (left + 120, top + 40, width)
    assert "/batches/" in page.url
    # The point under the pointer stays there.
    below = "([x, y]) => document.elementFromPoint(x, y).closest('a')?.id"
    box = page.locator("#graph a").nth(22).bounding_box()
    point = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
    page.mouse.move(*point)
    page.mouse.wheel(0, -120)
    page.wait_for_function("old => document.querySelector('#graph svg').clientWidth > old", arg=width)
    assert page.evaluate(below, point) == page.locator("#graph a").nth(22).get_attribute("id")
    moved = view_of(page)
    refresh(page)
    assert view_of(page) == moved
    page.click("#zoom-fit")
    assert page.locator("#graph").evaluate("one => one.scrollWidth <= one.clientWidth")
    assert page.locator(".graph-map").is_hidden()


def test_a_node_is_found_and_its_card_and_its_dependencies_are_shown(window, office, wide_batch):
    page = window().sign_in("alice", f"/offices/{office}/batches/{wide_batch}")
    page.click("#graph-failed")
    focused = page.locator("#graph a:focus")
    assert focused.locator("text").first.text_content() == "n0"
    card = page.locator("#graph-card")
    assert "command.run" in card.inner_text()
    assert "not-allowed" in card.inner_text()
    page.fill("#graph-find", "N55")
    assert page.locator("#graph-found").inner_text() == "1"
    page.keyboard.press("Enter")
    assert focused.locator("text").first.text_content() == "n55"
    related = page.locator("#graph a.related")
    # n5, n15, … n125
    assert related.count() == 13
    page.keyboard.press("ArrowRight")
    assert focused.locator("text").first.text_content() == "n65"
    page.click("#graph-follow")
    refresh(page)
    assert page.input_value("#graph-find") == "N55"
    assert page.locator("#graph .match").count() == 1
    assert page.locator("#graph.failed-only").count() == 1
    assert page.get_attribute("#graph-follow", "aria-pressed") == "true"
    page.locator("#graph").evaluate("one => one.scrollBy(-60, 0)")
    page.wait_for_selector("#graph-follow[aria-pressed=false]")
    assert violations(page) == []


def test_all_matching_jobs_are_cancelled_after_typing_their_number(stack, window, office, wide_batch):
    page = window().sign_in("alice", f"/offices/{office}/jobs?batch={wide_batch}&status=pending")
    page.check("input[name=scope][value=matching]")
    page.click("button[value=cancel]")
    assert page.locator("h1").inner_text() == "Cancel 130 jobs"
    assert violations(page) == []
    page.fill("#id_typed", "130")
    page.click("button[name=sure]")
    assert "130 jobs cancelled." in page.locator(".messages").inner_text()


@pytest.fixture
def step_queue(stack: System) -> Iterator[int]:
    alice = stack.client("alice")
    path = provisioning(alice, "seen", fail=True)
    yield int(path.rpartition("/")[2])
    alice.send("DELETE", path)


def test_a_step_queues_page_follows_its_run_and_its_rollback(stack, window, step_queue):
    own = window()
    events = frames_of(own.page)
    page = own.sign_in("alice", f"/step-queues/{step_queue}")
    page.wait_for_function("() => document.querySelector('#updated').textContent !== ''")
    while not any("snapshot" in frame for frame in events):
        page.wait_for_timeout(50)
    stack.client("alice").post(f"/api/queues/{step_queue}/run")
    # The page polls a queue that is not running once a minute; the socket reports changes at once.
    page.locator("#live h2", has_text=re.compile("running|rolling back|rolled back")).wait_for()
    page.locator("#live h2", has_text="rolled back").wait_for()
    assert page.locator("#job-1 .tall").all_inner_texts()[1].startswith("release_address")
    # Three forward, three backward, and the one between them.
    assert page.locator("#steps path.taken:not(.head)").count() == 7
    page.click("#do-run")
    assert "Queue started." in page.locator(".messages").inner_text()
    assert eventually(
        lambda: stack.client("alice").get(f"/api/queues/{step_queue}").json["state"] == "READY", 60
    )


# A browser without windows has nothing that would show notifications, and refuses them. The list outlives a
# page, since a notification is shown once, by whichever page learns of the failure first.
RECORD_NOTIFICATIONS = """
    window.notifications = JSON.parse(localStorage.getItem("recorded") || "[]");
    window.Notification = class {
        static permission = "granted";
        constructor(title, options) {
            notifications.push(`${title} ${options.body}`);
            localStorage.setItem("recorded", JSON.stringify(notifications));
        }
    };
"""


def test_a_failed_job_is_counted_on_each_page_and_notified_until_it_was_seen(stack, window, office):
    alone = window()
    alone.context.add_init_script(RECORD_NOTIFICATIONS)
    page = alone.sign_in("alice")
    fails = {"task_id": "demo.fail", "args": {"message": "No space left."}, "max_retries": 0}
    job = submit(stack, office, ref="out of space", **fails)
    assert eventually(lambda: status_of(stack, office, job) == "failed", 60)
    page.goto("/schedules")
    page.locator("#alerts .count").wait_for()
    icon = page.locator("#icon")
    assert str(icon.get_attribute("href")).endswith("/favicon-alert.svg")
    page.wait_for_function("() => notifications.some(text => text.includes('out of space'))")
    page.click("#alerts")
    assert page.locator("tr", has_text="out of space").locator("a").get_attribute("href").endswith(job["id"])
    page.click("text=Mark all as seen")
    page.locator("#alerts .count").wait_for(state="hidden")
    assert str(icon.get_attribute("href")).endswith("/favicon.svg")


def test_the_overview_is_small_and_only_its_stylesheet_blocks_it(window):
    page = window().sign_in("alice")
    page.goto("/")
    # Without the refreshes, of which a busy machine may see several before this is evaluated.
    size = page.evaluate(
        "['navigation', 'resource'].flatMap(kind => performance.getEntriesByType(kind))"
        ".filter(one => !new URL(one.name).pathname.endsWith('/live'))"
        ".reduce((sum, one) => sum + one.decodedBodySize, 0)"
    )
    assert 0 < size < 150 * 1024
    # The time of the first paint depends on the machine; the resources that block it depend on the page.
    assert page.locator("link[rel=stylesheet]").count() == 1
    assert page.locator("script:not([defer])").count() == 0


def test_the_search_opens_with_a_key_and_leads_to_a_job(stack, window, office):
    job = submit(stack, office, ref="to be searched", run_at=tomorrow())
    page = window(permissions=["clipboard-read", "clipboard-write"]).sign_in("alice")
    page.keyboard.press("?")
    assert page.locator("#shortcuts").is_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.keyboard.type("to be sear")
    page.locator("#finder li a", has_text="to be searched").wait_for()
    assert violations(page) == []
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/jobs/{job['id']}")
    page.locator("dd.mono .copy").first.click()
    page.locator("dd.mono .copy", has_text="Copied").first.wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == job["id"]
    stack.client("alice").post(f"/api/offices/{office}/jobs/{job['id']}/cancel")


def test_the_lists_of_an_office_announce_new_rows_and_keep_focus_and_selection(stack, window, office):
    first = submit(stack, office, ref="in the list", role="PO", run_at=tomorrow())
    jobs = window().sign_in("alice", f"/offices/{office}/jobs?role=PO&status=pending")
    batches = window("ko").sign_in("alice", f"/offices/{office}/batches")
    box = jobs.locator(f"input[name=job][value='{first['id']}']")
    box.check()
    waits = {"task_id": "demo.sum", "args": {"numbers": [1]}, "role": "PO", "run_at": tomorrow()}
    other = {"ref": "new in the list", **waits}
    body = {"batch": {"name": "new batch"}, "jobs": [other, other | {"ref": "second"}]}
    made = stack.client("alice").create(f"/api/offices/{office}/jobs", body)
    jobs.locator("#new-rows", has_text="2 new").wait_for()
    batches.locator("#new-rows", has_text="새 항목 1개").wait_for()
    assert box.is_checked()
    assert box.evaluate("box => box === document.activeElement")
    assert violations(jobs) == []
    for page, name in ((jobs, "new in the list"), (batches, "new batch")):
        assert page.locator("#live td a", has_text=name).count() == 0
        page.click("#new-rows")
        page.locator("#live td a", has_text=name).wait_for()
    cancelled = {"batch": made["batch"]["id"]}
    stack.client("alice").post(f"/api/offices/{office}/jobs/cancel-all", cancelled)
    stack.client("alice").post(f"/api/offices/{office}/jobs/{first['id']}/cancel")


def test_the_list_of_runs_announces_new_ones_and_keeps_what_is_selected(stack, window, office):
    job = submit(stack, office, ref="listed first", run_at=tomorrow())
    page = window().sign_in("alice", f"/runs?office={office}&q=listed")
    page.check(f"input[name=run][value='{job['id']}']")
    other = submit(stack, office, ref="listed second", run_at=tomorrow())
    page.locator("#new-rows", has_text="1 new").wait_for()
    assert page.is_checked(f"input[name=run][value='{job['id']}']")
    assert page.locator(f"#run-{other['id']}").count() == 0
    page.click("#new-rows")
    page.locator(f"#run-{other['id']}").wait_for()
    page.check("#all-of-page")
    page.click("button[value=cancel]")
    assert page.locator("h1").inner_text() == "Cancel 2 jobs"
    page.click("button[name=sure]")
    assert "2 jobs cancelled." in page.locator(".messages").inner_text()

"""Every page with texts of the greatest length: no page is wider than its window, no target is too small."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from config.dev.ports import free_port
from tests.acceptance.system import Client, System, worker_of_jobs
from tests.acceptance.test_browser_axe import MEMBER, PAGES
from tests.unit.process_tools import eventually

WIDTHS = (360, 768, 1280)
SMALLEST_TARGET = 24
# Without a space, with characters of double width, and with an address: 200 characters each, without a slash
# where a slash could break the line.
UNBROKEN = "deploy-" + "x" * 193
HANGUL = "가나다라마바사아자차" * 20
ADDRESS = ("https://registry.example/" + "a1b2c3d4" * 30)[:200]
ERROR = "E" * 30_000 + "\n" + HANGUL * 20

# Beside those of test_browser_axe.py, as far as their objects are made here.
MORE_PAGES = [
    "/executions/{execution}/log",
    "/offices/{office}/batches",
    "/runs?batch={batch}&q=deploy",
    "/runs/{failed}/again",
    "/workflows/runs",
]

# The visible targets of a page that are smaller than 24 px, except links within a sentence, drawings, and
# boxes whose label is large enough (WCAG 2.5.8).
SMALL_TARGETS = """smallest => [...document.querySelectorAll('a, button, input, select, textarea, summary')]
  .filter(one => one.type !== 'hidden' && !one.closest('svg') && !one.classList.contains('skip'))
  .filter(one => !one.closest('p') || one.closest('.crumbs'))
  .filter(one => one.checkVisibility())
  .map(one => [one, (one.labels?.[0]?.contains(one) ? one.labels[0] : one).getBoundingClientRect()])
  .filter(([one, box]) => box.width && (box.height < smallest - 0.5 || box.width < smallest - 0.5))
  .map(([one, box]) => `${Math.round(box.width)}x${Math.round(box.height)} ${one.outerHTML.slice(0, 120)}`)"""
WIDEST = """width => [...document.querySelectorAll('body *')]
  .filter(one => one.getBoundingClientRect().right > width + 1)
  .map(one => one.outerHTML.slice(0, 120)).slice(0, 3)"""


def make_objects(alice: Client) -> dict[str, Any]:
    office = alice.create("/api/offices", {"name": UNBROKEN})["id"]
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    fails = {"task_id": "demo.fail", "args": {"message": ERROR}, "max_retries": 0}
    work = {"task_id": "demo.sum", "args": {"numbers": [1]}}
    jobs = [
        {"ref": UNBROKEN, **fails},
        {"ref": ADDRESS, **fails},
        {"ref": HANGUL, **work, "run_at": tomorrow, "depends_on": [UNBROKEN, ADDRESS]},
    ]
    made = alice.create(f"/api/offices/{office}/jobs", {"batch": {"name": ADDRESS}, "jobs": jobs})
    ids = {job["ref"]: job["id"] for job in made["jobs"]}
    schedule = alice.create("/api/schedules", {"name": HANGUL, "kind": "cron", "cron": "0 9 * * 1", **fails})
    mode = {"mode": "recurring", "pattern": "weekly", "days_of_week": [0], "time": "09:00"}
    steps = [{"ref": UNBROKEN, **work}, {"ref": HANGUL, "depends_on": [UNBROKEN], **work}]
    named = {"office": office, "name": UNBROKEN, "status": "active"}
    workflow = alice.create("/api/workflows", {**named, "steps": steps, "schedule_config": mode})
    alice.create(f"/api/offices/{office}/members", {"username": "bob", "role": "viewer"})
    receiver = f"http://127.0.0.1:{free_port()}/" + "a1b2c3d4" * 20
    webhook = alice.create(f"/api/offices/{office}/webhooks", {"url": receiver})
    alice.create(f"/api/offices/{office}/webhooks/{webhook['id']}/test")
    queue = alice.create("/api/queues", {"queue_library": "provisioning", "name": UNBROKEN})
    step = {"forward_operation": "register_name", "arguments": {"name": UNBROKEN[:60], "fail": True}}
    alice.create(f"/api/queues/{queue['queue_id']}/jobs", step)
    return {
        "office": office,
        "batch": made["batch"]["id"],
        "failed": ids[UNBROKEN],
        "waiting": ids[HANGUL],
        "schedule": schedule["id"],
        "workflow": workflow["id"],
        "workflow_run": alice.create("/api/workflow/execute", {"workflow_id": workflow["id"]})["id"],
        "webhook": webhook["id"],
        "queue": queue["queue_id"],
        "execution": alice.create("/api/tasks/demo.fail/run", {"args": {"message": ERROR}})["execution_id"],
        "worker": worker_of_jobs(alice),
    }


def delete_objects(alice: Client, made: dict[str, Any]) -> None:
    alice.post(f"/api/executions/{made['execution']}/cancel")
    alice.send("DELETE", f"/api/schedules/{made['schedule']}")
    alice.send("DELETE", f"/api/workflows/{made['workflow']}")
    alice.send("DELETE", f"/api/queues/{made['queue']}")
    alice.send("DELETE", f"/api/offices/{made['office']}")


@pytest.fixture(scope="module")
def objects(system: System) -> Iterator[dict[str, Any]]:
    alice = system.client("alice")
    made = make_objects(alice)
    failed = f"/api/offices/{made['office']}/jobs/{made['failed']}"
    assert eventually(lambda: alice.get(failed).json["status"] == "failed", 200)
    yield made
    delete_objects(alice, made)


def pages_of(objects: dict[str, Any]) -> list[str]:
    pages = [path for reader, path in PAGES if reader == MEMBER and "no-such" not in path]
    names = {path: set(re.findall(r"{(\w+)}", path)) for path in [*pages, *MORE_PAGES]}
    return [path.format(**objects) for path in names if names[path] <= objects.keys()]


def problems_of(page: Any, width: int) -> list[str]:
    problems_by_page = []
    if page.evaluate("document.documentElement.scrollWidth") > width:
        problems_by_page.append(f"wider than {width}: {page.evaluate(WIDEST, width)}")
    return [*problems_by_page, *page.evaluate(SMALL_TARGETS, SMALLEST_TARGET)]


def test_no_page_is_wider_than_its_window_and_no_target_is_small(window, objects):
    opened = window(reduced_motion="reduce")
    page = opened.sign_in("alice")
    problems_by_page = {}
    for path in pages_of(objects):
        answer = page.goto(path)
        assert answer.status == 200, path
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            if problems := problems_of(page, width):
                problems_by_page[path, width] = problems
    assert problems_by_page == {}


# The cards of a page that leave a part of their row empty.
NOT_FILLING = """() => {
  const boxes = [...document.querySelectorAll('#live .card')].map(card => card.getBoundingClientRect());
  const right = Math.max(...boxes.map(box => box.right));
  const has = (box, other) => other.left > box.left && Math.abs(other.top - box.top) < 1
    && Math.abs(other.bottom - box.bottom) < 1;
  return boxes.filter(box => box.right < right - 1 && !boxes.some(other => has(box, other)))
    .map(box => `${Math.round(box.width)}x${Math.round(box.height)} at ${Math.round(box.top)}`);
}"""


def test_no_half_of_a_row_stays_empty_on_the_page_of_a_job_or_a_run(window, objects):
    page = window(reduced_motion="reduce").sign_in("alice")
    for path in ("/offices/{office}/jobs/{failed}", "/executions/{execution}", "/workers/{worker}"):
        page.goto(path.format(**objects))
        for width in (1280, 768):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate(NOT_FILLING) == [], (path, width)


def header_rows(page: Any) -> int:
    """The rows of the header, by the tops of its parts that do not overlap."""
    rows: int = page.evaluate(
        """() => {
            const parts = [...document.querySelectorAll('.top > div > *, .top nav > ul > li, .who > *')];
            const boxes = parts.map(part => part.getBoundingClientRect()).sort((a, b) => a.top - b.top);
            let rows = 0, bottom = -1;
            for (const box of boxes) {
                if (box.top >= bottom) { rows += 1; bottom = box.bottom; }
            }
            return rows;
        }"""
    )
    return rows


def test_the_header_is_one_row_from_1024_px_on_and_its_menus_close(window):
    for language in ("en", "ko"):
        page = window(locale=language).sign_in("admin")
        for width in (1024, 1180):
            page.set_viewport_size({"width": width, "height": 800})
            assert header_rows(page) == 1, (language, width)
        page.click(".more > summary")
        page.locator(".more a[href='/exports']").wait_for()
        page.click(".who .menu > summary")
        page.locator(".who button[name='language']").first.wait_for()
        assert page.locator("details.menu[open]").count() == 1
        page.keyboard.press("Escape")
        assert page.locator("details.menu[open]").count() == 0
    page.click(".who .menu > summary")
    page.click("button[lang=en]")
    assert page.locator("html").get_attribute("lang") == "en"

"""Every page, by axe, on a phone: WCAG 2.1 A and AA, in both languages and both schemes.

Colours are looked at in English only, since a colour does not depend on the language. A page that is new gets
its line in PAGES.
"""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from config.dev.ports import free_port
from tests.acceptance.axe import ELEMENTS, script, violations, violations_in, violations_in_the_dark
from tests.acceptance.browser import WAIT_MS, sign_in
from tests.acceptance.system import CHECKOUT, Client, System, worker_of_jobs
from tests.acceptance.test_steps import provisioning
from tests.unit.process_tools import eventually

# The first test waits until the demonstration's jobs free a worker process.

PHONE = {"width": 375, "height": 800}
SIGNED_OUT, MEMBER, STAFF = "", "alice", "admin"

# User and address of each page; `made` creates the objects in braces.
PAGES = [
    (SIGNED_OUT, "/login"),
    (MEMBER, "/"),
    (STAFF, "/"),
    (MEMBER, "/there-is-no-such-page"),
    (MEMBER, "/account"),
    (MEMBER, "/alerts"),
    (MEMBER, "/calendars"),
    (MEMBER, "/calendars/new"),
    (MEMBER, "/tasks"),
    (MEMBER, "/tasks/http.request"),
    (MEMBER, "/offices"),
    (MEMBER, "/offices/new"),
    (MEMBER, "/offices/{office}"),
    (STAFF, "/offices/{office}"),
    (MEMBER, "/offices/{office}/members"),
    (MEMBER, "/offices/{office}/members/remove?username=bob"),
    (MEMBER, "/offices/{office}/webhooks"),
    (MEMBER, "/offices/{office}/webhooks/{webhook}"),
    (MEMBER, "/offices/{office}/webhooks/{webhook}/delete"),
    (MEMBER, "/offices/{office}/jobs"),
    (MEMBER, "/offices/{office}/jobs?status=done&batch=nonsense"),
    (MEMBER, "/offices/{demo}/batches"),
    (MEMBER, "/offices/{demo}/batches/{demo_batch}"),
    (MEMBER, "/offices/{office}/batches/{batch}"),
    (MEMBER, "/offices/{office}/jobs/{done}"),
    (STAFF, "/offices/{office}/jobs/{done}"),
    (MEMBER, "/offices/{office}/jobs/{failed}"),
    (MEMBER, "/offices/{office}/jobs/{waiting}"),
    (MEMBER, "/offices/{office}/jobs/{done}/log"),
    (MEMBER, "/runs/{done}/again"),
    (MEMBER, "/step-queues"),
    (MEMBER, "/step-queues/new"),
    (MEMBER, "/step-queues/{queue}/jobs/new"),
    (MEMBER, "/step-queues?state=nonsense"),
    (MEMBER, "/step-queues/{queue}"),
    (MEMBER, "/step-queues/{long_queue}"),
    (MEMBER, "/step-queues/{empty_queue}"),
    (MEMBER, "/step-queues/{queue}/delete"),
    (MEMBER, "/schedules"),
    (MEMBER, "/schedules/new"),
    (MEMBER, "/schedules/{schedule}"),
    (MEMBER, "/schedules/{schedule}/edit"),
    (MEMBER, "/schedules/{schedule}/delete"),
    (MEMBER, "/workflows"),
    (MEMBER, "/workflows/new"),
    (MEMBER, "/workflows/{workflow}"),
    (MEMBER, "/workflows/{workflow}/edit"),
    (MEMBER, "/workflows/{workflow}/delete"),
    (MEMBER, "/workflows/{workflow}/runs/{workflow_run}"),
    (MEMBER, "/runs"),
    (MEMBER, "/runs?q=for&state=failed&range=24h"),
    (MEMBER, "/workflows/runs?status=completed"),
    (MEMBER, "/workers/{worker}"),
    (STAFF, "/workers/{worker}"),
    (MEMBER, "/queues/default"),
    (STAFF, "/queues/default"),
    (MEMBER, "/executions/{execution}"),
    (STAFF, "/executions/{execution}"),
    (MEMBER, "/runs/{execution}/again"),
    (MEMBER, "/exports"),
    (MEMBER, "/exports/{export}"),
    (MEMBER, "/exports/replays"),
    (MEMBER, "/exports/replays/{replay}"),
    (STAFF, "/deadletters"),
    (STAFF, "/admin/"),
    (STAFF, "/admin/jobs/job/"),
    (STAFF, "/admin/jobs/job/?q=for"),
    (STAFF, "/admin/jobs/job/{done}/change/"),
    (STAFF, "/admin/jobs/office/{office}/change/"),
    (STAFF, "/admin/scheduler/schedule/add/"),
    (STAFF, "/admin/scheduler/schedule/{schedule}/change/"),
    (STAFF, "/admin/scheduler/workflow/{workflow}/change/"),
    (STAFF, "/admin/scheduler/workflowrun/"),
    (STAFF, "/admin/scheduler/stepqueue/{queue}/change/"),
    (STAFF, "/admin/exports/exportjob/{export}/change/"),
    (STAFF, "/admin/exports/deadletter/"),
]


def jobs_of(alice: Client, office: str) -> dict[str, Any]:
    """A job that is done with output, one that failed, and one that waits."""
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    output = {"task_id": "command.run", "args": {"command": "echo", "args": ["hello"]}}
    refused = {"task_id": "command.run", "args": {"command": "not-allowed"}, "max_retries": 0}
    waits = {"task_id": "demo.sum", "args": {"numbers": [1]}, "run_at": tomorrow}
    jobs = [
        {**output, "ref": "done"},
        {**refused, "ref": "failed", "depends_on": ["done"]},
        {**waits, "ref": "waiting", "depends_on": ["done"]},
    ]
    made = alice.create(f"/api/offices/{office}/jobs", {"batch": {"name": "for axe"}, "jobs": jobs})
    return {job["ref"]: job["id"] for job in made["jobs"]} | {"batch": made["batch"]["id"]}


def times_of(alice: Client, office: str) -> dict[str, Any]:
    """A schedule, a workflow that has run, and a run by hand."""
    work = {"task_id": "demo.sum", "args": {"numbers": [1]}}
    rule = {"kind": "cron", "cron": "0 9 * * 1"}
    schedule = alice.create("/api/schedules", {"name": "for axe", **rule, **work})
    steps = [{"ref": "first", **work}, {"ref": "second", "depends_on": ["first"], **work}]
    mode = {"mode": "recurring", "pattern": "weekly", "days_of_week": [0], "time": "09:00"}
    named = {"office": office, "name": "for axe", "status": "active"}
    workflow = alice.create("/api/workflows", {**named, "steps": steps, "schedule_config": mode})
    run = alice.create("/api/tasks/demo.sum/run", {"args": work["args"]})
    started = alice.create("/api/workflow/execute", {"workflow_id": workflow["id"]})
    addresses = {"schedule": schedule["id"], "workflow": workflow["id"]}
    return addresses | {"workflow_run": started["id"], "execution": run["execution_id"]}


def settings_of(alice: Client, office: str) -> dict[str, Any]:
    """A second member, and a webhook with a delivery that nobody receives."""
    alice.create(f"/api/offices/{office}/members", {"username": "bob", "role": "viewer"})
    webhook = alice.create(f"/api/offices/{office}/webhooks", {"url": f"http://127.0.0.1:{free_port()}/"})
    alice.create(f"/api/offices/{office}/webhooks/{webhook['id']}/test")
    return {"webhook": webhook["id"]}


def step_queue(alice: Client, *steps: dict[str, Any]) -> int:
    queue = int(alice.create("/api/queues", {"queue_library": "provisioning", "name": "for axe"})["queue_id"])
    for step in steps:
        alice.create(f"/api/queues/{queue}/jobs", step)
    return queue


@pytest.fixture(scope="module")
def made(system: System, office: str) -> Iterator[dict[str, Any]]:
    """The objects that the pages show."""
    alice, demo = system.client("alice"), f"/api/offices/{system.office_id}"
    names: dict[str, Any] = {"office": office, "demo": system.office_id}
    names["demo_batch"] = alice.get(f"{demo}/batches").json["results"][0]["id"]
    names |= jobs_of(alice, office) | times_of(alice, office) | settings_of(alice, office)
    export = alice.get("/api/jobs").json["content"][0]
    names |= {"export": export["jobId"], "replay": export["replayId"]}
    names["worker"] = worker_of_jobs(alice)
    rolled_back = provisioning(alice, "for-axe", fail=True)
    alice.create(f"{rolled_back}/run?wait=25")
    names["queue"], names["empty_queue"] = int(rolled_back.rpartition("/")[2]), step_queue(alice)
    names["long_queue"] = step_queue(alice, *({"forward_operation": "reserve_address"} for _ in range(70)))
    assert eventually(lambda: alice.get(f"/api/queues/{names['queue']}").json["state"] == "READY", 200)
    failed = f"/api/offices/{office}/jobs/{names['failed']}"
    assert eventually(lambda: alice.get(failed).json["status"] == "failed", 200)
    yield names
    alice.send("DELETE", f"/api/schedules/{names['schedule']}")
    alice.send("DELETE", f"/api/workflows/{names['workflow']}")
    for queue in ("queue", "empty_queue", "long_queue"):
        alice.send("DELETE", f"/api/queues/{names[queue]}")


@pytest.fixture(scope="module")
def phone(browser: Any, system: System, made: dict[str, Any]) -> Iterator[Callable[[str, str], Any]]:
    """One window for each user and language, which keeps the files that all pages load."""
    pages: dict[tuple[str, str], Any] = {}

    def page_of(reader: str, language: str) -> Any:
        if (reader, language) not in pages:
            context = browser.new_context(
                base_url=system.base_url,
                locale=language,
                color_scheme="light",
                viewport=PHONE,
                reduced_motion="reduce",
            )
            # Its half a megabyte is sent to Chromium once, and not for each page.
            context.add_init_script(script())
            pages[reader, language] = context.new_page()
            pages[reader, language].set_default_timeout(WAIT_MS)
            if reader != SIGNED_OUT:
                sign_in(pages[reader, language], system, reader)
        return pages[reader, language]

    yield page_of
    for page in pages.values():
        page.context.close()


def opened(page: Any, path: str, language: str) -> Any:
    """The page at this path, in this language, not wider than a phone."""
    answer = page.goto(path)
    assert answer.status == (404 if "no-such" in path else 200)
    assert page.locator("html").get_attribute("lang") == language
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    return page


@pytest.mark.parametrize(("reader", "path"), PAGES, ids=lambda part: part or "nobody")
def test_axe_finds_no_violation_on_any_page(phone, made, reader, path):
    page = opened(phone(reader, "en"), path.format(**made), "en")
    assert violations(page) == []
    assert violations_in_the_dark(page) == []


@pytest.mark.parametrize(("reader", "path"), PAGES, ids=lambda part: part or "nobody")
def test_axe_finds_no_violation_on_any_page_in_korean(phone, made, reader, path):
    page = opened(phone(reader, "ko"), path.format(**made), "ko")
    assert violations(page, ELEMENTS) == []


def test_the_colours_of_a_scheme_are_the_same_in_each_language():
    sheets = [path for path in CHECKOUT.glob("*/static/**/*.css") if "vendor" not in path.parts]
    assert len(sheets) > 1
    assert [path.name for path in sheets if re.search(r":lang\(|\[lang", path.read_text())] == []


def test_axe_finds_only_known_violations_in_the_api_documentation(browser, system):
    context = browser.new_context(base_url=system.base_url, viewport=PHONE, color_scheme="dark")
    try:
        page = context.new_page()
        page.set_default_timeout(WAIT_MS)
        page.goto("/api/docs")
        page.locator(".opblock-tag").first.wait_for()
        # Swagger UI nests buttons in its summaries.
        assert [text for text in violations(page) if not text.startswith("nested-interactive: ")] == []
        page.emulate_media(color_scheme="light")
        page.locator("html:not(.dark-mode)").wait_for()
        assert violations_in(page, "light") == []
    finally:
        context.close()


def test_axe_finds_a_violation_that_is_there(browser, system):
    context = browser.new_context(base_url=system.base_url)
    try:
        page = context.new_page()
        page.set_default_timeout(WAIT_MS)
        page.goto("/login")
        field = page.locator("#id_username")
        field.evaluate("field => field.closest('label').replaceWith(field)")
        assert [text for text in violations(page) if text.startswith("label: ")]
    finally:
        context.close()

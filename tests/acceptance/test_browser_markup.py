"""Markup in any stored text stays text on every page: a crawler visits pages and admin in a real browser."""

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import urljoin

import pytest

from tests.acceptance.system import CHECKOUT, System
from tests.fuzz.accounts import uploaded
from tests.unit.process_tools import eventually

# Ends an attribute and an element, and runs a script in three ways if a page lets it.
MARKUP = """'"></p></script><b-mark></b-mark><img src=x onerror=ran=1><script>ran=1</script>{{7*7}}"""
# File names and titles of uploads end their folders at a slash.
UPLOADED = MARKUP.replace("/", "")
RAN = """() => [
    typeof ran !== 'undefined' && 'a script ran',
    document.querySelector('b-mark, img[src="x"]') && 'an element was inserted',
    [...document.querySelectorAll('*')].some(e => e.hasAttribute('onerror')) && 'a handler was inserted',
    document.documentElement.textContent.includes('<b-mark>') && DISPLAYED,
].filter(Boolean)"""
DISPLAYED = "the text is displayed"
IDS = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|[0-9]+")
# Of roles, Tasks and workers, and whatever else is an object's key in the admin.
NAMES = re.compile(r"^(/queues|/tasks|/workers|/admin/\w+/\w+)/[^/]+")
# Signing out, files, what programs read, and forms and histories that repeat what other pages show.
SKIPPED = re.compile(
    r"/(logout|language|static|api|metrics|healthz|readyz|history|password|add|delete)\b|\.(mp4|png|txt|json|csv)$|/result$|/file$"
)
# Queries, except those that name the object of a page: filters multiply.
FILTERS = re.compile(r"\?(?!username=).*")
# Rows whose texts no endpoint sets. The variables are MARKUP and OFFICE.
ROWS = """
from django.contrib.auth.models import User
from django.utils import timezone
from exports.models import DeadLetter
from jobs.models import Execution, Membership, Worker
now = timezone.now()
user = User.objects.create(username=MARKUP, first_name=MARKUP, email="m@example.org")
Membership.objects.create(office_id=OFFICE, user=user, role="viewer")
Worker.objects.create(name=MARKUP, roles=["default"], started_at=now, seen_at=now)
DeadLetter.objects.create(
    source_stream="job.progress", source_id="9-9", fields={MARKUP: MARKUP}, reason=MARKUP, failed_at=now
)
Execution.objects.filter(office_id=OFFICE).update(worker=MARKUP)
"""
REMOVE = """
from django.contrib.auth.models import User
from exports.models import DeadLetter
from jobs.models import Worker
Worker.objects.filter(name=MARKUP).delete()
DeadLetter.objects.filter(reason=MARKUP).delete()
User.objects.filter(username=MARKUP).delete()
"""


def run_in_shell(system: System, office: str, code: str) -> None:
    command = [sys.executable, "manage.py", "shell", "-v", "0", "-c"]
    subprocess.run(
        [*command, f"MARKUP, OFFICE = {MARKUP!r}, {office!r}\n{code}"],
        cwd=CHECKOUT,
        env=system.environment(),
        check=True,
    )


@pytest.fixture(scope="module")
def pages(system: System, office: str) -> Iterator[list[str]]:
    """The pages of objects whose texts are all markup."""
    alice = system.client("alice")
    at = f"/api/offices/{office}"
    alice.send("PATCH", at, {"name": MARKUP})
    job = {"ref": MARKUP, "task_id": "demo.fail", "args": {"message": MARKUP}, "max_retries": 0}
    waits = {"ref": f"{MARKUP} 2", "task_id": "demo.sum", "args": {"numbers": []}, "depends_on": [MARKUP]}
    batch = alice.create(f"{at}/jobs", {"batch": {"name": MARKUP}, "jobs": [job, waits]})
    failed, waiting = (job["id"] for job in batch["jobs"])
    alice.create(f"{at}/jobs/{waiting}/cancel", {"reason": MARKUP})
    times = {"kind": "cron", "cron": "0 9 * * 1", "task_id": "demo.fail", "args": {"message": MARKUP}}
    schedule = alice.create("/api/schedules", {"name": MARKUP, **times})["id"]
    flow = {"office": office, "name": MARKUP, "status": "active", "steps": [job, waits]}
    daily = {"mode": "recurring", "pattern": "daily", "time": "09:00"}
    workflow = alice.create("/api/workflows", {**flow, "schedule_config": daily})["id"]
    alice.create("/api/workflow/execute", {"workflow_id": workflow})
    queue = alice.create("/api/queues", {"queue_library": "provisioning", "name": MARKUP})["queue_id"]
    step = {"forward_operation": "reserve_address", "arguments": {"network": MARKUP}}
    alice.create(f"/api/queues/{queue}/jobs", step)
    alice.create(f"/api/queues/{queue}/run")
    replay = uploaded(alice, UPLOADED, f"{UPLOADED}.jsonl")
    export = alice.create(f"/api/replays/{replay}/exports/thumbnail")["jobId"]
    # It ends at once. While a run waits for a retry, its owner cannot run the Task again, as other tests do.
    run = alice.create("/api/tasks/command.run/run", {"args": {"command": MARKUP}})["execution_id"]
    assert eventually(lambda: alice.get(f"{at}/jobs/{failed}").json["status"] == "failed", 200)
    assert eventually(lambda: alice.get(f"/api/queues/{queue}").json["state"] == "READY", 200)
    run_in_shell(system, office, ROWS)
    offices = f"/offices/{office}"
    yield [
        *("/", "/offices", f"{offices}/jobs", f"{offices}/jobs/{failed}", f"{offices}/jobs/{waiting}"),
        *(f"{offices}/batches", f"{offices}/batches/{batch['batch']['id']}", "/executions"),
        *(f"/executions/{run}", "/schedules", f"/schedules/{schedule}", f"/schedules/{schedule}/edit"),
        *("/workflows", f"/workflows/{workflow}", f"/workflows/{workflow}/edit", "/step-queues"),
        *(f"/step-queues/{queue}", "/exports", f"/exports/{export}", "/exports/replays"),
        f"/exports/replays/{replay}",
    ]
    run_in_shell(system, office, REMOVE)
    for path in (f"/api/schedules/{schedule}", f"/api/workflows/{workflow}", f"/api/queues/{queue}"):
        alice.send("DELETE", path)


def form_of(path: str) -> str:
    """The path without ids and names, except a name that is markup."""
    plain = IDS.sub("*", path)
    return plain if "b-mark" in plain else NAMES.sub(r"\1/*", plain)


class Crawler:
    """Visits pages and the pages that they link to, and records where markup was more than text."""

    def __init__(self, window: Any, start: list[str]) -> None:
        self.window = window
        self.waiting = [(path, "the start") for path in start]
        self.forms = {form_of(path) for path in start}
        self.wrong: list[str] = []
        self.displayed: list[str] = []

    def visit_all(self) -> "Crawler":
        """Of the pages of one form it visits the first."""
        while self.waiting:
            path, source = self.waiting.pop(0)
            for link in self.visit(path, source):
                form = form_of(link)
                if form not in self.forms and not SKIPPED.search(link):
                    self.forms.add(form)
                    self.waiting.append((link, path))
        return self

    def visit(self, path: str, source: str) -> list[str]:
        page = self.window.page
        answer = page.goto(path, wait_until="domcontentloaded")
        result = page.evaluate(RAN.replace("DISPLAYED", f"'{DISPLAYED}'"))
        if DISPLAYED in result:
            self.displayed.append(path)
        problems = [problem for problem in result if problem != DISPLAYED] + self.window.complaints
        if problems or answer.status >= 400:
            self.wrong.append(f"{path} from {source}: {answer.status} {problems}")
        self.window.complaints.clear()
        base = self.window.stack.base_url
        links = page.evaluate("[...document.links].map(each => each.href)")
        plain = {FILTERS.sub("", urljoin(base, link).split("#")[0]) for link in links}
        return sorted(link.removeprefix(base) for link in plain if link.startswith(base))


def test_markup_is_only_text_on_every_page(window, pages):
    own = window()
    own.sign_in("alice")
    crawler = Crawler(own, pages).visit_all()
    assert not crawler.wrong, "\n".join(crawler.wrong)
    # Every page of an object displays it, and lists do.
    assert len(set(pages) & set(crawler.displayed)) >= len(pages) - 2, set(pages) - set(crawler.displayed)


def test_markup_is_only_text_on_every_page_of_staff(window, pages):
    staff = window()
    staff.sign_in("admin")
    start = ["/", "/deadletters", "/admin/"]
    crawler = Crawler(staff, start).visit_all()
    assert not crawler.wrong, "\n".join(crawler.wrong)
    assert len(crawler.displayed) > 15, crawler.displayed


def test_the_crawler_sees_markup_that_is_inserted(window, pages):
    own = window()
    page = own.sign_in("alice")
    page.evaluate(f"document.body.insertAdjacentHTML('beforeend', {MARKUP!r})")
    assert "an element was inserted" in page.evaluate(RAN.replace("DISPLAYED", "''"))
    # The policy of the pages forbids the handler; the console says so.
    page.wait_for_function("() => document.querySelector('img[src=\"x\"]').complete")
    assert any("Content Security Policy" in text for text in own.complaints)
    own.complaints.clear()

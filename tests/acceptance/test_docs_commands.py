"""The commands of the guides work as they stand. test_docs_api.py runs those of docs/api.md."""

import json
import re

from tests.acceptance.shell import command_blocks, run_script
from tests.acceptance.system import CHECKOUT
from tests.acceptance.test_readme import documents, needs_curl
from tests.unit.process_tools import eventually


def run_page(folder, page: str) -> str:
    return run_script(folder, ["/bin/sh", "-eu"], "\n".join(command_blocks(page)))


@needs_curl
def test_the_tutorial_submits_its_task_a_refused_one_a_failing_one_and_a_graph(folder, stack):
    first, greeting, refused, failing, graph, long = documents(run_page(folder, "docs/tutorial.md"))
    assert (first["task_id"], greeting["task_id"]) == ("demo.sum", "greetings.greet")
    assert refused["status"] == 400
    assert "nme" in json.dumps(refused)
    assert failing["max_retries"] == 2
    assert [job["ref"] for job in graph["jobs"]] == ["who", "greet", "count", "end"]
    alice = stack.client("alice")
    # Other tests share the workers.
    assert alice.post(f"/api/offices/{stack.office_id}/jobs/{long['id']}/cancel").status in (200, 202)
    path = f"/api/offices/{stack.office_id}/jobs/{greeting['id']}"
    assert eventually(lambda: alice.get(path).json["status"] == "done", 60)
    assert alice.get(path).json["result"] == {"greeting": "안녕하세요, 두레"}


@needs_curl
def test_the_guide_to_tasks_shows_and_runs_its_task(folder, stack):
    task, run, graph, refused = documents(run_page(folder, "docs/tasks.md"))
    assert (task["task_id"], task["timeout_ms"]) == ("words.count", 60_000)
    assert task["args_schema"]["required"] == ["text"]
    alice = stack.client("alice")
    path = f"/api/executions/{run['execution_id']}"
    assert eventually(lambda: alice.get(path).json["status"] == "SUCCESS", 60)
    assert alice.get(path).json["result"] == {"fish": 4}
    assert [job["ref"] for job in graph["jobs"]] == ["pause", "count"]
    reasons = ["txt: The Task takes no such argument.", "text: This field is required."]
    assert refused["errors"] == {"args": reasons}


@needs_curl
def test_the_chord_of_the_guide_for_users_of_celery_adds_results(folder, stack):
    (graph,) = documents(run_page(folder, "docs/from-celery.md"))
    path = f"/api/offices/{stack.office_id}/jobs/{graph['jobs'][2]['id']}"
    alice = stack.client("alice")
    assert eventually(lambda: alice.get(path).json["status"] == "done", 60)
    assert alice.get(path).json["result"] == 6


@needs_curl
def test_the_guide_to_schedules_makes_a_schedule_a_calendar_a_run_and_a_workflow(folder, stack):
    schedule, calendar, run, workflow, created, started = documents(run_page(folder, "docs/schedules.md"))
    assert schedule["words"]["en"] == "at 09:00, Monday to Friday"
    assert calendar["dates"] == ["2026-12-25", "2027-01-01"]
    assert run["execution_id"]
    assert (workflow["name"], workflow["status"]) == ("morning report", "active")
    assert set(created) == {"created", "kept", "replaced", "removed"}
    assert set(started) == {"executed"}
    # Other tests share the system.
    for path in (f"workflows/{workflow['id']}", f"schedules/{schedule['id']}", f"calendars/{calendar['id']}"):
        assert stack.client("alice").send("DELETE", f"/api/{path}").status == 204


@needs_curl
def test_the_guide_to_events_lists_events_and_creates_a_webhook(folder, stack):
    events, webhook = documents(run_page(folder, "docs/events.md"))
    assert events["next_after"] >= events["results"][-1]["id"]
    assert webhook["event_types"] == ["schedule_failing", "schedule_recovered"]
    address = f"/api/offices/{stack.office_id}/webhooks/{webhook['id']}"
    assert stack.client("alice").send("DELETE", address).status == 204


@needs_curl
def test_the_guide_to_step_queues_rolls_its_queue_back(folder):
    *_, answer, jobs = documents(run_page(folder, "docs/step-queues.md"))
    assert answer["operation_direction"] == "BACKWARD"
    states = re.findall(r"(?:SUCCESS|FAILED), CANCELED", json.dumps(jobs))
    assert states == [*["SUCCESS, CANCELED"] * 3, "FAILED, CANCELED"]


@needs_curl
def test_the_guide_to_exports_downloads_a_video(folder):
    lines = re.search(r"<<'END'\n(.*?)END\n", (CHECKOUT / "docs" / "api.md").read_text(), re.DOTALL)
    (folder / "match.jsonl").write_text(lines[1])
    assert "SUCCEEDED" in run_page(folder, "docs/exports.md")
    assert (folder / "match.mp4").read_bytes()[4:8] == b"ftyp"

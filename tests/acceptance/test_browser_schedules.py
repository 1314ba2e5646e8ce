"""The forms of schedules and workflows in a real browser, with their previews."""

import json
import re
from typing import Any

STEPS = [
    {"ref": "load", "task_id": "demo.sum", "args": {"numbers": [1]}},
    {"ref": "send", "task_id": "demo.sum", "args": {"numbers": [2]}, "depends_on": ["load"]},
]
DAILY = {"mode": "recurring", "pattern": "daily", "time": "09:00"}


def a_workflow(stack: Any, office: str, **fields: Any) -> str:
    body = {"office": office, "name": "report", "status": "active", "steps": STEPS, "schedule_config": DAILY}
    return str(stack.client("alice").create("/api/workflows", body | fields)["id"])


def test_a_schedule_is_created_after_a_preview_and_run_now(stack, window):
    page = window().sign_in("alice")
    page.click("nav >> text=Schedules")
    page.click("text=New schedule")
    page.fill("[name=name]", "made in the browser")
    page.select_option("[name=task_id]", "demo.flaky")
    page.locator("#task-help", has_text="whole number").wait_for()
    page.fill("[name=args]", '{"failures": "none"}')
    page.locator("#why-args", has_text="failures: ").wait_for()
    page.fill("[name=cron]", "0 25 * * *")
    page.locator("#why-cron", has_text="25 is out of range").wait_for()
    page.fill("[name=args]", '{"failures": 0}')
    page.fill("[name=cron]", "0 9 * * MON-FRI")
    page.locator("#in-words", has_text="at 09:00, Monday to Friday").wait_for()
    assert page.locator("#preview li").count() == 5
    assert page.locator("#why-cron").inner_text() == ""
    page.click("text=Create schedule")
    assert "Schedule created." in page.locator(".messages").inner_text()
    page.click("text=Run now")
    page.wait_for_url("**/executions/*")
    # The page refreshes by itself until the result is there.
    page.locator("#live h2", has_text="Succeeded").first.wait_for()
    assert page.locator("#live pre", has_text="attempt").count() == 1


def test_only_the_fields_of_the_selected_type_are_shown(window):
    page = window().sign_in("alice", "/schedules/new")
    for kind, field in (("cron", "cron"), ("interval", "every"), ("once", "at")):
        page.check(f"[name=kind][value={kind}]")
        fields = [page.locator(f"[name={name}]").is_visible() for name in ("cron", "every", "at")]
        assert fields == [name == field for name in ("cron", "every", "at")]


def test_a_workflow_is_changed_after_a_preview_and_run(stack, window, office):
    page = window().sign_in("alice", f"/workflows/{a_workflow(stack, office)}/edit")
    assert page.locator("#drawn .box").count() == 2
    wrong = [*STEPS, {"ref": "third", "task_id": "no.such", "depends_on": ["send"]}]
    page.click("#json-tab")
    page.fill("[name=steps]", json.dumps(wrong))
    page.locator("#why-steps", has_text="step 3 (third), task_id: No Task").wait_for()
    assert page.locator("#drawn .box").count() == 3
    page.fill("[name=steps]", json.dumps(wrong).replace("no.such", "demo.fail"))
    page.locator("#why-steps", has_text=re.compile("^$")).wait_for(state="attached")
    page.check("[name=pattern][value=weekly]")
    page.locator("[name=days_of_week][value='4']").check()
    page.locator("#in-words", has_text="every Friday at 09:00").wait_for()
    page.click(".save button.main")
    assert "every Friday at 09:00" in page.locator("#live h2").first.inner_text()
    workflow = page.url
    page.click("text=Run now")
    page.wait_for_url("**/batches/*")
    page.goto(workflow)
    # Two steps have succeeded, and the third is still being retried.
    page.locator("#live td .state", has_text="running").wait_for()
    assert page.locator("#live a[id^=batch-]").count() == 1

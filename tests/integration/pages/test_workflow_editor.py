"""The editor of a workflow's steps: each change of the JSON, the form of a step, and errors at their step."""

import json

import pytest

from scheduler.models import Workflow
from scheduler.workflows.editing import Steps
from tests.integration.pages.clients import sign_in, text_of
from tests.integration.pages.schedule_pages import form_data
from tests.integration.pages.workflow_pages import FORM, made
from tests.schedule_factories import a_step

pytestmark = pytest.mark.django_db

LOAD = {"ref": "load", "task_id": "demo.sum", "args": {"numbers": [1]}}
SEND = {"ref": "send", "task_id": "demo.flaky", "args": {"failures": 2}, "depends_on": ["load"]}
BIG = 2**62 + 1


@pytest.fixture
def edit(office, alice):
    """Sends a change as the browser does: with the whole form, and the fields of the step in the editor."""

    def send(steps, action, place="", *, as_json=False, client=alice, **more):
        text = steps if isinstance(steps, str) else json.dumps(steps)
        sent = {**FORM, "office": str(office.id), "steps": text, "edit": action, "place": place}
        if action in ("change", "form", "json"):
            # What the browser shows, as it is or with what is typed.
            fields = {"step-written_as": "json"} if as_json else {}
            answer = client.post("/workflows/preview", {**sent, **fields, "edit": "open"})
            form = answer.context["editor"].form
            fields |= {form[name].html_name: form[name].value() for name in form.fields}
            more = fields | {f"step-{name}": value for name, value in more.items()}
        answer = client.post("/workflows/preview", {**sent, **more})
        assert answer.status_code == 200
        return answer

    return send


def steps_after(answer) -> Steps:
    return list(json.loads(answer.context["editor"].text))


def test_a_step_is_added_renamed_connected_and_removed(edit):
    steps = steps_after(edit("", "add", task_id="demo.sum"))
    assert steps == [{"ref": "sum", "task_id": "demo.sum"}]
    answer = edit([LOAD], "add", task_id="demo.flaky")
    steps = steps_after(answer)
    assert steps == [LOAD, {"ref": "flaky", "task_id": "demo.flaky"}]
    assert answer.context["editor"].form.place == 1
    steps = steps_after(edit(steps, "connect", "1", parent="0"))
    assert steps[1]["depends_on"] == ["load"]
    steps = steps_after(edit(steps, "change", "0", ref="fetch"))
    assert (steps[0]["ref"], steps[1]["depends_on"]) == ("fetch", ["fetch"])
    assert "depends_on" not in steps_after(edit(steps, "connect", "1", parent="0"))[1]
    assert steps_after(edit(steps, "remove", "0")) == [{"ref": "flaky", "task_id": "demo.flaky"}]
    assert not Workflow.objects.exists()


@pytest.mark.parametrize(
    ("steps", "action", "more", "message", "korean_message"),
    [
        ("[{", "open", {}, "Not valid JSON", "JSON이 아닙니다"),
        ("[1]", "add", {"task_id": "demo.sum"}, "Must be a list of jobs", "작업 목록"),
        ([], "add", {}, "Choose a Task.", "태스크를 고르세요"),
        ([], "add", {"task_id": "no.such"}, "No Task 'no.such'", "no.such"),
        ([LOAD, SEND], "connect", {"place": "0", "parent": "1"}, "'load' cannot run after 'send'", "순환"),
        ([LOAD, SEND], "connect", {"place": "1", "parent": "1"}, "cannot depend on itself", "자신"),
    ],
)
def test_a_change_that_cannot_be_is_refused_with_words(edit, steps, action, more, message, korean_message):
    text = steps if isinstance(steps, str) else json.dumps(steps)
    for language, expected in (("en", message), ("ko", korean_message)):
        answer = edit(text, action, client=sign_in(language=language), **more)
        assert expected in answer.context["editor"].message
        assert ("No steps yet." in text_of(answer)) == (steps == [] and language == "en")
        assert answer.context["editor"].text == text


def test_arguments_are_typed_by_the_schema_of_the_task(edit):
    def changed(**values):
        return steps_after(edit([LOAD, SEND], "change", "1", **values))[1].get("args")

    assert changed() == {"failures": 2}
    assert changed(arg_failures="3") == {"failures": 3}
    assert changed(arg_failures="") is None
    assert changed(from_failures="result:load") == {"failures": {"$result": "load"}}
    assert changed(from_failures="input") == {"failures": {"$input": ""}}
    result = {**SEND, "args": {"failures": {"$result": "load"}}}
    answer = edit([LOAD, result], "change", "1", path_failures="rows.0")
    assert steps_after(answer)[1]["args"] == {"failures": {"$result": "load", "path": "rows.0"}}
    answer = edit([LOAD, result], "change", "1", from_failures="")
    assert "args" not in steps_after(answer)[1]


def test_arguments_are_edited_as_json_too(edit):
    answer = edit([SEND], "json", "0")
    assert json.loads(answer.context["editor"].form["args"].value()) == {"failures": 2}
    answer = edit([SEND], "change", "0", as_json=True, args='{"failures": 4}')
    assert steps_after(answer)[0]["args"] == {"failures": 4}
    # What the form cannot hold is shown as JSON.
    odd = {**SEND, "args": {"failures": 2, "other": 1}}
    assert edit([odd], "open", "0").context["editor"].form.as_json
    answer = edit([SEND], "form", "0", as_json=True)
    assert "arg_failures" in answer.context["editor"].form.fields


def test_fields_that_were_not_changed_stay_as_they_are(edit):
    odd = {
        **LOAD,
        "args": {"numbers": [BIG, 1.5, {"$input": "month"}], "unknown": None},
        "run_at": "2030-01-01T00:00:00Z",
        "timeout_ms": 5000,
        "own": {"x": "•"},
        "depends_on": ["missing"],
    }
    steps = steps_after(edit([odd, SEND], "change", "0", as_json=True, priority="7"))
    assert steps == [{**odd, "priority": 7}, SEND]
    # Values that a form would read in another way, or not at all.
    for task_id, args in (
        ("demo.sleep", {"seconds": None}),
        ("http.request", {"url": "", "method": " "}),
        ("demo.flaky", {"failures": True}),
        ("demo.flaky", {"failures": "3"}),
    ):
        step = {"ref": "a", "task_id": task_id, "args": args}
        (changed,) = steps_after(edit([step], "change", "0", ref="other"))
        assert json.dumps(changed["args"]) == json.dumps(args)


def test_a_value_that_cannot_be_read_is_an_error_of_its_field(edit):
    answer = edit([SEND], "change", "0", arg_failures="many", ref="renamed")
    (step,) = steps_after(answer)
    assert (step["ref"], step["args"]) == ("renamed", {"failures": 2})
    assert answer.context["editor"].errors["arg_failures"] == ["Enter a whole number."]
    assert 'id="why-step-arg_failures" hx-swap-oob' in text_of(answer)


def test_dependencies_are_a_list_too(edit):
    steps = [
        LOAD,
        {"task_id": "demo.sum"},
        {"ref": "end", "task_id": "demo.sum", "depends_on": ["load", "no"]},
    ]
    form = edit(steps, "open", "2").context["editor"].form
    assert form.fields["depends_on"].choices == [("0", "load"), ("1", "demo.sum"), ("?no", "no (missing)")]
    changed = steps_after(edit(steps, "change", "2", depends_on=["0", "1"]))
    assert (changed[1]["ref"], changed[2]["depends_on"]) == ("sum", ["load", "sum"])
    refused = edit(changed, "change", "0", depends_on=["2"])
    assert "cycle" in refused.context["editor"].errors["depends_on"][0]
    assert steps_after(refused) == changed


def test_the_servers_errors_are_shown_at_their_step(edit, office, alice):
    wrong = {"ref": "bad", "task_id": "demo.flaky", "args": {"failures": "no"}, "priority": "high", "odd": 1}
    answer = edit([LOAD, wrong], "open", "1")
    errors = answer.context["editor"].errors
    assert errors["arg_failures"] == ["Wrong type; expected: int."]
    assert "priority" in errors
    assert any(text.startswith("odd: ") for text in errors["step"])
    assert answer.context["wrong"] == {"1"}
    saved = alice.post(
        "/workflows/new", {**FORM, "office": str(office.id), "steps": json.dumps([LOAD, wrong])}
    )
    assert saved.status_code == 400
    assert 'class="tone-bad" id="step-box-1"' in text_of(saved)


def test_a_renamed_step_keeps_its_masked_values(office, alice, edit):
    headers = {"Authorization": "Bearer abc"}
    request = {"method": "GET", "url": "https://a.example", "headers": headers}
    workflow = made(office, steps=[a_step("get", task_id="http.request", args=request), a_step("end", "get")])
    texts = form_data(alice.get(f"/workflows/{workflow.id}/edit"))
    answer = edit(texts["steps"], "change", "0", ref="fetch", arg_url="https://b.example")
    assert "Bearer abc" not in text_of(answer)
    renamed = {**texts, "steps": answer.context["editor"].text}
    assert alice.post(f"/workflows/{workflow.id}/edit", renamed).status_code == 302
    workflow.refresh_from_db()
    assert workflow.steps[0]["args"] == {**request, "url": "https://b.example"}
    assert workflow.steps[1]["depends_on"] == ["fetch"]


def test_odd_requests_change_nothing(edit):
    text = json.dumps([LOAD])
    for action, place in (("remove", "9"), ("remove", "x"), ("connect", "-1"), ("none", "0"), ("none", "")):
        assert edit(text, action, place).context["editor"].text == text

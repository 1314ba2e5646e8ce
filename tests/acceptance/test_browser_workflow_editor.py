"""The editor of a workflow's steps in a real browser: by pointer, by keyboard and as JSON."""

import json
from typing import Any

import pytest

from tests.acceptance.axe import violations, violations_in_the_dark
from tests.acceptance.test_browser_schedules import STEPS, a_workflow
from tests.acceptance.test_browser_text import HANGUL, UNBROKEN, WIDTHS, problems_of


def steps_of(page: Any) -> list[dict[str, Any]]:
    return list(json.loads(page.input_value("#steps-json") or "[]"))


def wait_for_steps(page: Any, condition: str) -> None:
    """Waits until this holds of the steps of the JSON."""
    steps = "JSON.parse(document.getElementById('steps-json').value || '[]')"
    page.wait_for_function(f"() => {{ const steps = {steps}; return {condition}; }}")


def add(page: Any, task_id: str, count: int) -> None:
    page.fill("#add-task", task_id)
    page.click("#add-form button")
    page.wait_for_selector(f"#step-box-{count - 1}.chosen")


def drag(page: Any, parent: int, child: int) -> None:
    """From the handle of a step to another step."""
    # A preview may replace the drawing until a button of the mouse is pressed; hover() then looks again.
    page.locator(f"#step-box-{parent} .handle").hover()
    page.mouse.down()
    end = page.locator(f"#step-box-{child} rect.box").bounding_box()
    page.mouse.move(end["x"] + 40, end["y"] + 20, steps=5)
    page.mouse.up()


@pytest.fixture
def editor(stack: Any, window: Any, office: str) -> Any:
    """Opens the editor of a workflow with two steps, of which the second depends on the first."""

    def open_one(locale: str = "en", steps: Any = STEPS, **more: Any) -> Any:
        path = f"/workflows/{a_workflow(stack, office, steps=steps)}/edit"
        return window(locale, **more).sign_in("alice", path)

    return open_one


def test_a_workflow_of_three_steps_is_built_by_the_editor_alone_and_run(window, office):
    page = window().sign_in("alice", f"/workflows/new?office={office}")
    page.fill("[name=name]", "built")
    for count in (1, 2, 3):
        add(page, "demo.sum", count)
    for place, name in enumerate(("load", "count", "send")):
        page.click(f"#step-box-{place} rect.box")
        page.wait_for_selector(f"#step-form[data-place='{place}']")
        page.fill("#step-arg_numbers", f"[{place}]")
        page.fill("#step-ref", name)
        page.press("#step-ref", "Enter")
        page.locator(f"#step-box-{place}", has_text=name).wait_for()
    drag(page, 0, 1)
    wait_for_steps(page, "steps[1].depends_on?.[0] === 'load'")
    drag(page, 1, 2)
    wait_for_steps(page, "steps[2].depends_on?.[0] === 'count'")
    drag(page, 2, 0)
    page.locator("#editor-message", has_text="That is a cycle: ").wait_for()
    assert "depends_on" not in steps_of(page)[0]
    page.click("#step-box-2 rect.box")
    page.wait_for_selector("#step-form[data-place='2']")
    assert violations(page) == []
    page.click("text=Create workflow")
    page.click("text=Run now")
    page.wait_for_url("**/batches/*")
    page.wait_for_function("() => document.querySelectorAll('#graph a.tone-good').length === 3")


def test_references_follow_a_new_name_and_a_change_is_undone(editor):
    page = editor()
    page.click("#step-box-1 rect.box")
    page.select_option("[name=step-from_numbers]", "result:load")
    wait_for_steps(page, "steps[1].args.numbers.$result === 'load'")
    page.fill("[name=step-path_numbers]", "rows.0")
    page.click("#step-box-0 rect.box")
    page.wait_for_selector("#step-form[data-place='0']")
    page.fill("#step-ref", "fetch")
    page.press("#step-ref", "Enter")
    wait_for_steps(page, "steps[1].args.numbers.$result === 'fetch'")
    assert steps_of(page)[1]["args"]["numbers"] == {"$result": "fetch", "path": "rows.0"}
    assert steps_of(page)[1]["depends_on"] == ["fetch"]
    page.click("#undo")
    wait_for_steps(page, "steps[0].ref === 'load' && steps[1].args.numbers.$result === 'load'")
    page.locator("#step-box-0", has_text="load").wait_for()
    page.click("#redo")
    wait_for_steps(page, "steps[0].ref === 'fetch'")
    page.focus("#step-box-1")
    for _ in range(4):
        page.keyboard.press("Control+z")
    wait_for_steps(page, "steps[0].ref === 'load' && Array.isArray(steps[1].args.numbers)")
    assert page.is_disabled("#undo")
    assert steps_of(page) == STEPS
    assert page.evaluate("document.activeElement.id") == "step-box-1", "a new drawing keeps the focus"


def test_json_is_edited_and_seen_in_the_graph_and_errors_stand_at_their_step(stack, window, office):
    opened = window()
    page = opened.sign_in("alice", f"/workflows/{a_workflow(stack, office)}/edit")
    page.click("#json-tab")
    wrong = [
        *STEPS,
        {"ref": "third", "task_id": "demo.flaky", "args": {"failures": "x"}, "depends_on": ["send"]},
    ]
    page.fill("#steps-json", json.dumps(wrong))
    page.locator("#why-steps", has_text="step 3 (third), args: ").wait_for()
    page.click("#graph-tab")
    page.wait_for_selector("#step-box-2.tone-bad")
    page.click("#step-box-2 rect.box")
    page.locator("#why-step-arg_failures", has_text="expected: int").wait_for()
    page.click(".save button.main")
    # The answer of the server opens the step, too.
    page.locator("[role=alert]").wait_for()
    assert "400 (Bad Request)" in opened.complaints.pop()
    page.locator("#why-step-arg_failures", has_text="expected: int").wait_for()
    page.fill("#step-arg_failures", "1")
    # What was typed last is sent with the form, and the button stays below a pointer that is pressed long.
    page.hover(".save button.main")
    with page.expect_response("**/preview") as answer:
        page.mouse.down()
    answer.value.finished()
    page.mouse.up()
    page.locator(".messages", has_text="Saved.").wait_for()


def test_a_value_that_cannot_be_read_keeps_the_form_from_being_sent(editor):
    page = editor()
    page.click("#step-box-0 rect.box")
    page.fill("#step-arg_numbers", "[1,")
    page.click(".save button.main")
    page.locator("#why-step-arg_numbers", has_text="Not valid JSON").wait_for()
    page.click(".save button.main")
    page.locator("#editor-message", has_text="Not valid JSON").wait_for()
    page.fill("#step-arg_numbers", "[1, 2]")
    page.click(".save button.main")
    page.locator(".messages", has_text="Saved.").wait_for()
    page.locator("main", has_text="[1, 2]").wait_for()
    # The page of the workflow leads to each of its steps.
    page.click("td a:has-text('send')")
    page.wait_for_selector("#step-form[data-place='1']")


def test_a_workflow_is_edited_by_keyboard_alone(editor):
    page = editor()
    page.focus("#add-task")
    page.keyboard.type("demo.sum")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement.id === 'step-ref'")
    page.keyboard.type("end")
    page.keyboard.press("Tab")
    wait_for_steps(page, "steps[2]?.ref === 'end'")
    page.focus("#step-depends_on_1")
    page.keyboard.press("Space")
    wait_for_steps(page, "steps[2].depends_on?.[0] === 'send'")
    page.wait_for_function("() => document.activeElement.id === 'step-depends_on_1'")
    page.keyboard.press("Space")
    wait_for_steps(page, "!steps[2].depends_on")
    page.focus("#step-box-0")
    page.keyboard.press("Enter")
    page.wait_for_function(
        "() => document.activeElement.id === 'step-ref' && document.activeElement.value === 'load'"
    )
    page.focus("#step-depends_on_0")
    page.keyboard.press("Space")
    page.locator("#why-step-depends_on", has_text="That is a cycle: ").wait_for()
    page.focus("#step-box-1")
    page.keyboard.press("Delete")
    wait_for_steps(page, "steps.length === 2")
    page.focus("#graph-tab")
    page.keyboard.press("ArrowRight")
    assert page.is_visible("#steps-json")
    assert page.is_hidden("#graph-panel")


def test_the_drawing_stays_where_it_was_scrolled_to(editor):
    page = editor(viewport={"width": 360, "height": 800})
    add(page, "demo.sum", 3)
    page.check("#step-depends_on_1")
    wait_for_steps(page, "steps[2].depends_on?.[0] === 'send'")
    graph = page.locator("#drawn .graph")
    page.wait_for_function("() => document.querySelectorAll('#drawn path[data-ends]').length === 2")
    graph.evaluate("graph => graph.scrollTo(150, 0)")
    page.fill("#step-ref", "last")
    page.press("#step-ref", "Tab")
    page.locator("#step-box-2", has_text="last").wait_for()
    assert graph.evaluate("graph => graph.scrollLeft") == 150


def test_the_form_works_without_scripts(editor):
    page = editor(java_script_enabled=False)
    assert page.locator("#drawn [data-place]").count() == 2
    assert page.is_hidden("#add-form")
    page.fill("#steps-json", json.dumps(STEPS[:1]))
    page.click(".save button.main")
    page.locator(".messages", has_text="Saved.").wait_for()
    assert page.locator("svg .box").count() == 1


def test_the_editor_fits_its_window_and_axe_is_clean(editor):
    first, second = ({**step, "ref": name} for step, name in zip(STEPS, (UNBROKEN, HANGUL), strict=True))
    steps = [first, {**second, "args": {"numbers": {"$result": UNBROKEN}}, "depends_on": [UNBROKEN]}]
    page = editor("ko", steps, color_scheme="light")
    page.click("#step-box-0 rect.box")
    page.wait_for_selector("#step-form")
    page.focus("#step-box-1")
    page.keyboard.press("Enter")
    page.wait_for_selector("#step-form[data-place='1']")
    page.click("summary:has-text('다른 필드')")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        assert problems_of(page, width) == []
    assert violations(page) == []
    assert violations_in_the_dark(page) == []
    page.click("#json-tab")
    page.wait_for_selector("#steps-json", state="visible")
    assert violations(page) == []
    assert violations_in_the_dark(page) == []

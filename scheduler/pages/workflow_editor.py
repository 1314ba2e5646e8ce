"""The editor of a workflow's steps: applies one change to their JSON, and shows the form of one step."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict

from jobs import catalogue
from jobs.api.framework import strict_json
from jobs.errors import CodedError, ErrorText, FieldErrors, InvalidValue
from scheduler.pages.forms import indent_json
from scheduler.pages.step_form import ARG, SOURCE, StepForm
from scheduler.workflows import editing
from scheduler.workflows.editing import Steps


@dataclass
class Edited:
    """The steps after a change, and the step in the editor, if there is one."""

    text: str
    message: str = ""
    form: StepForm | None = None
    # Whether the form has other fields than the one that the browser shows.
    is_new: bool = True
    errors: dict[str, list[str]] = field(default_factory=dict)

    @property
    def error_texts(self) -> list[tuple[str, list[str]]]:
        """The errors of each field that the form shows them at; "step" is the step itself."""
        fields = self.form.fields if self.form else ()
        names = ["step", "args", *(name for name in fields if not name.startswith(SOURCE))]
        return [(name, self.errors.get(name, [])) for name in dict.fromkeys(names)]

    def add_errors(self, errors: FieldErrors) -> None:
        """Errors of the step by its fields; those of an argument are shown at the argument."""
        for name, texts in errors.items():
            for text in texts:
                self._add(name, text)

    def _add(self, name: str, text: ErrorText) -> None:
        fields = self.form.fields if self.form else {}
        argument = f"{ARG}{text.params.get('field')}"
        if text.code == "in_field" and argument in fields:
            self.errors.setdefault(argument, []).append(str(text.params["text"]))
        elif name in fields or name == "args":
            self.errors.setdefault(name, []).append(str(text))
        else:
            self.errors.setdefault("step", []).append(f"{name}: {text}" if name else str(text))


def edit(post: QueryDict) -> Edited:
    """Apply the change that the browser asks for to the steps that it sent."""
    text = post.get("steps", "").replace("\r\n", "\n")
    try:
        steps = _read(text)
    except CodedError as invalid:
        return Edited(text, message=str(invalid.text))
    action, place = post.get("edit", ""), _place(post, "place", steps)
    if action in ("change", "form", "json") and place is not None:
        return _change(post, text, steps, place)
    try:
        changed, place = ACTIONS.get(action, _open)(post, steps, place)
    except CodedError as refused:
        edited, changed = Edited(text, message=str(refused.text)), steps
    else:
        edited = Edited(text if changed == steps else indent_json(changed))
    if place is not None:
        edited.form = StepForm(changed, place, as_json=_is_json(post))
    return edited


def _change(post: QueryDict, text: str, steps: Steps, place: int) -> Edited:
    """Apply the form of a step, and show it as the action says."""
    action = post.get("edit", "")
    before = StepForm(steps, place, as_json=_is_json(post), data=post)
    changed = before.apply()
    after = StepForm(changed, place, as_json=_is_json(post) if action == "change" else action == "json")
    errors = {name: [str(each) for each in texts] for name, texts in before.errors.items()}
    return Edited(
        text if changed == steps else indent_json(changed),
        message=" ".join(each for texts in errors.values() for each in texts),
        form=after,
        is_new=after.shape != before.shape,
        errors=errors,
    )


Action = Callable[[QueryDict, Steps, int | None], tuple[Steps, int | None]]


def _open(_post: QueryDict, steps: Steps, place: int | None) -> tuple[Steps, int | None]:
    return steps, place


def _add(post: QueryDict, steps: Steps, _place: int | None) -> tuple[Steps, int | None]:
    name = post.get("task_id", "").strip()
    if not name:
        raise InvalidValue("task_needed")
    return editing.add(steps, catalogue.find(name).task_id), len(steps)


def _remove(_post: QueryDict, steps: Steps, place: int | None) -> tuple[Steps, int | None]:
    return (steps, None) if place is None else (editing.remove(steps, place), None)


def _connect(post: QueryDict, steps: Steps, place: int | None) -> tuple[Steps, int | None]:
    """Add a dependency, or remove the one that is there."""
    parent = _place(post, "parent", steps)
    if place is None or parent is None:
        return steps, place
    is_connected = parent in editing.parents_of(steps)[place]
    change = editing.disconnect if is_connected else editing.connect
    return change(steps, place, parent), place


ACTIONS: dict[str, Action] = {"open": _open, "add": _add, "remove": _remove, "connect": _connect}


def _read(text: str) -> Steps:
    steps = strict_json.loads(text.strip().encode() or b"[]")
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
        raise InvalidValue("steps_list")
    return steps


def _place(post: QueryDict, name: str, steps: Sequence[Any]) -> int | None:
    text = post.get(name, "")
    place = int(text) if text.isdecimal() and len(text) < 7 else len(steps)
    return place if place < len(steps) else None


def _is_json(post: QueryDict) -> bool:
    return post.get("step-written_as") == "json"

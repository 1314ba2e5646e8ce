"""No operation shows or changes an object of another tenant, whichever ids and credentials a request has."""

from itertools import combinations
from typing import Any

import pytest
from django.test import Client

from jobs.models import Membership
from jobs.states import MemberRole
from tests.integration.rest_support import PROBLEM, client_of, make_user
from tests.integration.security.operations import Operation, operations, with_ids
from tests.integration.security.tenants import (
    SHARED,
    Tenant,
    changes,
    clients_without_access,
    snapshot,
    undone,
)

pytestmark = pytest.mark.django_db

# Dead letters belong to the installation: staff only, and 403 for everybody else.
FOR_STAFF = ("/api/deadletters", "/api/roles")
OWNERS_ONLY = "Owners only"
NOTHING = "0199c0de-0000-7000-8000-00000000ffff"


def names_an_object(operation: Operation) -> bool:
    # The token of a link is the credential itself: tests/integration/exports/test_links.py.
    if "token" in operation.parameters:
        return False
    return any(name not in SHARED for name in operation.parameters) and not is_for_staff(operation)


def is_for_staff(operation: Operation) -> bool:
    return operation.path.startswith(FOR_STAFF)


def send(operation: Operation, client: Client, tenant: Tenant, **body: Any) -> Any:
    """The first example, with the ids of this tenant in its path and its body."""
    path = tenant.fill(operation.path, operation.parameters)
    return operation.send(client, path, with_ids(operation.examples()[0], tenant.id_of) | body)


def refusal(answer: Any, *statuses: int) -> str:
    """What is wrong with an answer that should be one of these refusals."""
    if answer.status_code not in statuses:
        return f"{answer.status_code} instead of {statuses}: {text_of(answer)[:200]}"
    return "" if answer["Content-Type"] == PROBLEM else f"it is {answer['Content-Type']}"


def text_of(answer: Any) -> str:
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return str(content.decode(errors="replace"))


def test_the_owner_may_do_everything(ours):
    """The control: the same requests are valid, so that the other tests see no other mistake."""
    root = client_of(make_user("root", is_superuser=True, is_staff=True))
    owner, wrong = client_of(ours.owner), []
    for operation in operations():
        for example in operation.examples():
            if "username" in example:
                make_user(example["username"])
        with undone():
            answer = send(operation, root if is_for_staff(operation) else owner, ours)
        if answer.status_code not in (200, 201, 202, 204, 409):
            wrong.append(f"{operation}: {answer.status_code} {text_of(answer)[:300]}")
    assert not wrong, "\n".join(wrong)


def test_every_operation_refuses_invalid_credentials_and_writes_nothing(ours):
    clients, before, wrong = clients_without_access(ours), snapshot(), []
    for operation in operations():
        if operation.is_open or not operation.described.get("security"):
            continue
        for name, client in clients.items():
            if problem := refusal(send(operation, client, ours), 401):
                wrong.append(f"{operation} with {name}: {problem}")
    assert not wrong, "\n".join(wrong)
    assert changes(before) == []


def test_the_objects_of_another_tenant_do_not_exist(ours, theirs):
    strangers = {"an owner of another office": client_of(ours.owner)}
    removed = theirs.member("removed", MemberRole.OWNER)
    Membership.objects.filter(user=removed).delete()
    strangers["a removed member"] = client_of(removed)
    before, wrong = snapshot(), []
    for operation in filter(names_an_object, operations()):
        for name, client in strangers.items():
            if problem := refusal(send(operation, client, theirs), 404):
                wrong.append(f"{operation} by {name}: {problem}")
    assert not wrong, "\n".join(wrong)
    assert changes(before) == []


def test_a_foreign_id_is_answered_like_one_that_does_not_exist(ours, theirs):
    owner, wrong = client_of(ours.owner), []
    for operation in filter(names_an_object, operations()):
        foreign = send(operation, owner, theirs)
        path = operation.path
        for name in operation.parameters:
            own = str(theirs.id_of(name, path))
            nothing = "987654321" if own.isdigit() else "nobody" if name == "username" else NOTHING
            path = path.replace(f"{{{name}}}", str(SHARED.get(name, nothing)))
        missing = operation.send(owner, path, with_ids(operation.examples()[0], theirs.id_of))
        if (foreign.status_code, foreign.json()) != (missing.status_code, missing.json()):
            wrong.append(f"{operation}: {foreign.json()}, and of nothing {missing.json()}")
    assert not wrong, "\n".join(wrong)


def test_an_id_of_another_office_does_not_exist_below_this_one(ours, theirs):
    """Even for a member of both offices."""
    Membership.objects.create(office=theirs.office, user=ours.owner, role=MemberRole.OWNER)
    owner, before, wrong, tried = client_of(ours.owner), snapshot(), [], 0
    for operation in filter(names_an_object, operations()):
        names = operation.parameters
        for count in range(1, len(names)):
            for foreign in combinations(names, count):
                path = ours.fill(
                    theirs.fill(operation.path, list(foreign)), [n for n in names if n not in foreign]
                )
                answer = operation.send(owner, path, with_ids(operation.examples()[0], ours.id_of))
                tried += 1
                if problem := refusal(answer, 404):
                    wrong.append(f"{operation} with {foreign} of another office: {problem}")
    assert tried > 30
    assert not wrong, "\n".join(wrong)
    assert changes(before) == []


def test_a_body_that_names_a_foreign_object_is_refused(ours, theirs):
    owner, before, wrong, tried = client_of(ours.owner), snapshot(), [], 0
    for operation in operations():
        for example in operation.examples():
            body = with_ids(example, theirs.id_of)
            if body == with_ids(example, ours.id_of):
                continue
            tried += 1
            path = ours.fill(operation.path, operation.parameters)
            if problem := refusal(operation.send(owner, path, body), 400, 404):
                wrong.append(f"{operation}: {problem}")
    assert tried >= 2
    assert not wrong, "\n".join(wrong)
    assert changes(before) == []


def test_nothing_of_another_tenant_is_in_any_answer(ours, theirs):
    """Whatever a request filters by."""
    owner, wrong = client_of(ours.owner), []
    for operation in operations():
        if operation.method != "get" or is_for_staff(operation):
            continue
        path = ours.fill(operation.path, operation.parameters)
        names = [
            each["name"] for each in operation.query_parameters() if each["schema"].get("format") == "uuid"
        ]
        for query in ({}, *({name: theirs.id_of(f"{name}_id", path)} for name in names)):
            answer = owner.get(path, query)
            if answer.status_code >= 500 or theirs.mark in text_of(answer):
                wrong.append(f"{operation} {query}: {answer.status_code} {text_of(answer)[:300]}")
    assert not wrong, "\n".join(wrong)


def test_a_viewer_reads_and_changes_nothing(ours):
    viewer, before, wrong = client_of(ours.member("reader", MemberRole.VIEWER)), snapshot(), []
    for operation in operations():
        if not {"office_id", "workflow_id", "run_id"} & set(operation.parameters):
            continue
        description = operation.described.get("description", "")
        reads = operation.method == "get" and OWNERS_ONLY not in description
        answer = send(operation, viewer, ours)
        if reads and answer.status_code != 200:
            wrong.append(f"{operation}: {answer.status_code} {text_of(answer)[:200]}")
        elif not reads and (problem := refusal(answer, 403)):
            wrong.append(f"{operation}: {problem}")
    assert not wrong, "\n".join(wrong)
    assert changes(before) == []


def test_an_operator_does_nothing_that_only_owners_may(ours):
    operator, before, wrong, tried = client_of(ours.member("op", MemberRole.OPERATOR)), snapshot(), [], 0
    for operation in operations():
        if OWNERS_ONLY in operation.described.get("description", ""):
            tried += 1
            if problem := refusal(send(operation, operator, ours), 403):
                wrong.append(f"{operation}: {problem}")
    assert tried > 8
    assert not wrong, "\n".join(wrong)
    assert changes(before) == []


def test_only_staff_see_dead_letters_and_queues(ours):
    owner, before = client_of(ours.owner), snapshot()
    wrong = [
        f"{operation}: {problem}"
        for operation in filter(is_for_staff, operations())
        if (problem := refusal(send(operation, owner, ours), 403))
    ]
    assert not wrong, "\n".join(wrong)
    assert changes(before) == []

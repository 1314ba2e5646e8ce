"""The pages of an office's settings: creating it, limits, pause, and what others are refused."""

import pytest
from django.test import Client

from jobs.models import Office
from jobs.states import MemberRole
from tests.factories import a_member
from tests.integration.pages.clients import at, field_error, form_fields, sign_in, signed_in, text_of

pytestmark = pytest.mark.django_db


def post_limits(client: Client, office: Office, **change: str):
    """The form as the page shows it, with this change."""
    return client.post(
        at(office, "/limits"), {**form_fields(client.get(at(office, "")), at(office, "/limits")), **change}
    )


def current(office: Office) -> Office:
    return Office.objects.get(pk=office.pk)


def test_the_page_creates_an_office_with_the_user_as_its_owner():
    client = sign_in("nora")
    assert 'href="/offices/new"' in text_of(client.get("/offices"))
    answer = client.post("/offices/new", {"name": "Studio", "notify_emails": "a@x.example\nb@x.example\n"})
    office = Office.objects.get(name="Studio")
    assert answer["Location"] == at(office, "")
    assert office.notify_emails == ["a@x.example", "b@x.example"]
    assert office.memberships.get().role == MemberRole.OWNER
    assert "Studio" in text_of(client.get(at(office, "")))


@pytest.mark.parametrize(
    ("change", "field", "english", "korean"),
    [
        ({"name": ""}, "name", "required", "필수"),
        ({"name": "x" * 201}, "name", "200", "200"),
        ({"notify_emails": "a@x.example\nnobody"}, "notify_emails", "valid email", "이메일"),
        ({"notify_emails": "a@x.example\n" * 21}, "notify_emails", "At most 20", "최대 20"),
    ],
)
def test_an_invalid_office_is_refused_at_its_field(change, field, english, korean):
    for language, expected in (("en", english), ("ko", korean)):
        answer = sign_in("nora", language).post("/offices/new", {"name": "Studio", **change})
        assert answer.status_code == 400
        assert expected in field_error(answer, field)
    assert not Office.objects.exists()


def test_the_owner_changes_the_name_and_the_addresses(office, alice):
    alice.post(at(office, ""), {"name": "Renamed", "notify_emails": "ops@x.example"})
    assert (current(office).name, current(office).notify_emails) == ("Renamed", ["ops@x.example"])


def test_the_owner_changes_limits_timeouts_and_retries(office, alice):
    Office.objects.update(max_concurrent_by_role={"BE": 2, "FE": 1}, default_timeout_by_role={"FE": 5000})
    # The rows are BE, FE and two empty ones.
    change = {"0-limit": "", "1-role": "Web", "2-role": "QA", "2-limit": "0", "2-timeout": "0.5"}
    answer = post_limits(
        alice, office, max_concurrent_jobs="7", default_timeout="90.5", retry_base_delay="2", **change
    )
    assert answer.status_code == 302
    changed = current(office)
    assert changed.max_concurrent_jobs == 7
    assert (changed.default_timeout_ms, changed.retry_base_delay_ms) == (90_500, 2_000)
    assert changed.max_concurrent_by_role == {"Web": 1, "QA": 0}
    assert changed.default_timeout_by_role == {"Web": 5000, "QA": 500}
    assert changed.max_retries == office.max_retries
    assert changed.retryable_failures == office.retryable_failures


def test_saving_keeps_what_another_owner_changed_meanwhile(office, alice):
    fields = form_fields(alice.get(at(office, "")), at(office, "/limits"))
    Office.objects.update(max_concurrent_jobs=9, max_concurrent_by_role={"FE": 4})
    alice.post(at(office, "/limits"), {**fields, "max_retries": "5", "retryable_failures": ["error"]})
    changed = current(office)
    assert (changed.max_concurrent_jobs, changed.max_concurrent_by_role) == (9, {"FE": 4})
    assert (changed.max_retries, changed.retryable_failures) == (5, ["error"])


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"max_concurrent_jobs": "0"}, "greater than or equal to 1"),
        ({"max_concurrent_jobs": "10001"}, "less than or equal to 10000"),
        ({"default_timeout": "0"}, "greater than or equal to 0.001"),
        ({"default_timeout": "NaN"}, "Enter a number."),
        ({"max_retries": "101"}, "less than or equal to 100"),
        ({"retry_backoff": "random"}, "Select a valid choice."),
        ({"retryable_failures": "poison"}, "Select a valid choice."),
        ({"1-role": "no space", "1-limit": "1"}, "Must be the name of a role"),
        ({"1-role": "control", "1-limit": "1"}, "Must be the name of a role"),
        ({"1-limit": "1"}, "This field is required."),
        ({"1-role": "FE", "1-limit": "-1"}, "greater than or equal to 0"),
        ({"1-role": "BE", "1-limit": "3"}, "This role has a row already."),
    ],
)
def test_an_invalid_limit_is_refused_and_changes_nothing(office, alice, change, expected):
    Office.objects.update(max_concurrent_by_role={"BE": 2}, default_timeout_by_role={})
    before = Office.objects.values().get(pk=office.pk)
    answer = post_limits(alice, office, **change)
    assert answer.status_code == 400
    assert expected in text_of(answer)
    assert Office.objects.values().get(pk=office.pk) == before


def test_a_paused_office_says_so_with_the_button_that_resumes_it(office, alice):
    assert alice.post(at(office, "/pause"))["Location"] == at(office, "")
    assert current(office).paused
    for rest in ("", "/jobs", "/batches"):
        assert f'action="{at(office, "/resume")}"' in text_of(alice.get(at(office, rest))), rest
    alice.post(at(office, "/resume"))
    assert not current(office).paused


def test_an_operator_cannot_change_an_office(office):
    Office.objects.update(paused=True)
    before = Office.objects.values().get(pk=office.pk)
    olga = signed_in(a_member(office, "olga", MemberRole.OPERATOR))
    page = text_of(olga.get(at(office, "")))
    assert '<fieldset class="stack" disabled>' in page
    assert "/resume" not in page
    for rest in ("", "/limits", "/pause", "/resume"):
        assert olga.post(at(office, rest), {"name": "taken"}).status_code == 403, rest
    assert Office.objects.values().get(pk=office.pk) == before

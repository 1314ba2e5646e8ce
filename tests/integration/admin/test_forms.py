"""Forms of the admin change rows through the domain, and protect rows that must not be edited."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django_celery_beat.models import IntervalSchedule, PeriodicTask

from jobs.models import ApiToken, Job, Membership, Office, Webhook
from jobs.models.office import default_retryable_failures
from jobs.states import JobStatus, MemberRole
from tests.factories import a_user, an_office, claimed, fresh, submitted
from tests.integration.admin.action_form import address
from tests.integration.pages.clients import signed_in

pytestmark = pytest.mark.django_db


def staff(name: str, *rights: str) -> Client:
    user = a_user(name, is_staff=True)
    user.user_permissions.set(Permission.objects.filter(codename__in=rights))
    return signed_in(user)


def form_of(page: Any) -> dict[str, Any]:
    """The values that a browser would send back unchanged."""
    form = page.context["adminform"].form
    values = {name: form[name].value() for name in form.fields}
    return {name: value for name, value in values.items() if value is not None and value is not False}


# --- offices and members ---------------------------------------------------------------------------


def test_new_limits_of_an_office_apply_at_once(root):
    office = an_office(max_concurrent_jobs=1, max_concurrent_by_role={"FE": 1, "QA": 2})
    jobs = submitted(office, {}, {})
    assert fresh(jobs[1]).status == JobStatus.READY
    change = address(Office, "change", office.pk)
    values = form_of(root.get(change)) | {"max_concurrent_jobs": "2", "max_concurrent_by_role": '{"QA": 3}'}
    assert root.post(change, values).status_code == 302
    assert fresh(jobs[1]).status == JobStatus.PROCESSING
    office.refresh_from_db()
    # A removed role has no limit of its own any more.
    assert office.max_concurrent_by_role == {"QA": 3}


@pytest.mark.parametrize(
    "field, value",
    [
        ("max_concurrent_jobs", "0"),
        ("max_concurrent_by_role", '{"no body": 1}'),
        ("max_concurrent_by_role", "[]"),
        ("default_timeout_by_role", '{"QA": -1}'),
        ("max_retries", "101"),
        ("notify_emails", "not an address"),
        ("notify_emails", "\n".join(f"a{n}@example.org" for n in range(21))),
    ],
)
def test_an_invalid_setting_of_an_office_is_reported_at_its_field(root, field, value):
    office = an_office()
    change = address(Office, "change", office.pk)
    page = root.post(change, form_of(root.get(change)) | {field: value})
    assert list(page.context["adminform"].form.errors) == [field]


def test_the_creator_of_an_office_owns_it(root):
    typed = {"name": "new", "notify_emails": "a@example.org\nb@example.org"}
    values = form_of(root.get(address(Office, "add"))) | typed
    assert root.post(address(Office, "add"), values).status_code == 302
    office = Office.objects.get()
    assert office.notify_emails == ["a@example.org", "b@example.org"]
    assert office.retryable_failures == default_retryable_failures()
    assert Membership.objects.get().role == MemberRole.OWNER


def test_an_office_is_deleted_with_its_rows_unless_jobs_run(root):
    office = an_office(a_user("alice"))
    [job] = submitted(office, {})
    assert claimed(job) is not None
    delete = address(Office, "delete", office.pk)
    page = root.post(delete, {"post": "yes"}, follow=True)
    assert "1 jobs of the office are running" in page.content.decode()
    assert Office.objects.exists()
    Job.objects.update(status=JobStatus.CANCELLED, completed_at=timezone.now())
    root.post(delete, {"post": "yes"})
    assert not Office.objects.exists()
    assert not Job.objects.exists()


def test_an_office_keeps_an_owner(root):
    office = an_office(a_user("alice"))
    member = Membership.objects.get()
    change = address(Membership, "change", member.pk)
    page = root.post(change, {"role": MemberRole.VIEWER}, follow=True)
    assert "An office needs an owner" in page.content.decode()
    page = root.post(address(Membership, "delete", member.pk), {"post": "yes"}, follow=True)
    assert "An office needs an owner" in page.content.decode()
    assert Membership.objects.get().role == MemberRole.OWNER
    values = {"office": str(office.pk), "user": str(a_user("bob").pk), "role": MemberRole.OWNER}
    assert root.post(address(Membership, "add"), values).status_code == 302
    root.post(change, {"role": MemberRole.VIEWER})
    member.refresh_from_db()
    assert member.role == MemberRole.VIEWER


def test_only_an_active_user_becomes_a_member(root):
    office, bob = an_office(a_user("alice")), a_user("bob")
    bob.is_active = False
    bob.save()
    values = {"office": str(office.pk), "user": str(bob.pk), "role": MemberRole.VIEWER}
    page = root.post(address(Membership, "add"), values, follow=True)
    assert "There is no such user." in page.content.decode()
    assert not Membership.objects.filter(user=bob).exists()


# --- tokens, webhooks ------------------------------------------------------------------------------


def test_a_token_is_shown_once_and_works(root):
    values = {"user": str(a_user("alice").pk), "name": "ci", "expires_at_0": "", "expires_at_1": ""}
    page = root.post(address(ApiToken, "add"), values)
    token = ApiToken.objects.get()
    [plain] = re.findall(rf"[>\s]({re.escape(token.prefix)}[^<\s]*)", page.content.decode())
    assert Client(headers={"Authorization": f"Token {plain}"}).get("/api/offices").status_code == 200
    assert plain not in root.get(address(ApiToken, "change", token.pk)).content.decode()
    assert plain not in str(root.session.items()) + str(root.cookies)


def test_only_a_superuser_issues_tokens_for_other_users(root):
    clerk = staff("clerk", "add_apitoken", "view_apitoken", "view_user")
    values = {"name": "ci", "expires_at_0": "", "expires_at_1": ""}
    clerk.post(address(ApiToken, "add"), values | {"user": str(a_user("root").pk)})
    assert not ApiToken.objects.exists()
    clerk.post(address(ApiToken, "add"), values | {"user": str(a_user("clerk").pk)})
    assert ApiToken.objects.get().user == a_user("clerk")


def test_a_webhooks_secret_is_shown_once_and_its_address_is_checked(root):
    office = an_office()
    values = {"office": office.pk, "format": "dure", "event_types": ["job_failed"], "enabled": "on"}
    refused = root.post(address(Webhook, "add"), values | {"url": "https://127.0.0.1/x"})
    assert list(refused.context["adminform"].form.errors) == ["url"]
    page = root.post(address(Webhook, "add"), values | {"url": "https://hooks.example/x"})
    hook = Webhook.objects.get()
    assert hook.secret in page.content.decode()
    office.refresh_from_db()
    assert office.has_webhooks
    change = address(Webhook, "change", hook.pk)
    assert hook.secret not in root.get(change).content.decode()
    root.post(change, {"url": hook.url, "event_types": ["job_failed", "job_completed"]})
    hook.refresh_from_db()
    office.refresh_from_db()
    assert (hook.enabled, sorted(hook.event_types)) == (False, ["job_completed", "job_failed"])
    assert not office.has_webhooks
    root.post(address(Webhook, "delete", hook.pk), {"post": "yes"})
    assert not Webhook.objects.exists()


def test_the_url_of_a_chats_webhook_is_kept_and_not_returned(root):
    office = an_office()
    url = "https://hooks.slack.com/services/a-secret-token"
    values = {"office": office.pk, "format": "slack", "event_types": ["job_failed"], "enabled": "on"}
    added = root.post(address(Webhook, "add"), values | {"url": url}, follow=True)
    hook = Webhook.objects.get()
    assert (hook.url, hook.format) == (url, "slack")
    change = address(Webhook, "change", hook.pk)
    saved = root.post(change, {"url": "", "event_types": ["job_completed"], "enabled": "on"}, follow=True)
    hook.refresh_from_db()
    assert (hook.url, hook.event_types) == (url, ["job_completed"])
    for page in (added, saved, root.get(change), root.get(address(Webhook, "changelist"))):
        assert page.status_code == 200
        assert "a-secret-token" not in page.content.decode() and hook.secret not in page.content.decode()


# --- users -----------------------------------------------------------------------------------------


def test_users_cannot_be_deleted(root):
    alice = a_user("alice")
    assert root.post(address(User, "delete", alice.pk), {"post": "yes"}).status_code == 403
    assert "delete_selected" not in root.get(address(User, "changelist")).content.decode()


def test_only_a_superuser_grants_permissions(root):
    clerk = staff("clerk", "change_user", "view_user", "change_group")
    own = address(User, "change", a_user("clerk").pk)
    page = clerk.get(own)
    assert 'name="is_superuser"' not in page.content.decode()
    values = {**form_of(page), "is_superuser": "on", "is_staff": "on"}
    clerk.post(own, values)
    assert not User.objects.get(username="clerk").is_superuser
    assert clerk.post(address(User, "change", a_user("root").pk), {"username": "mine"}).status_code == 403
    password = reverse("admin:auth_user_password_change", args=[a_user("root").pk])
    assert clerk.post(password, {"password1": "x", "password2": "x"}).status_code == 403
    assert 'name="is_superuser"' in root.get(own).content.decode()


# --- django-celery-beat ----------------------------------------------------------------------------


def test_only_the_interval_of_an_engine_task_can_be_changed(root):
    task = PeriodicTask.objects.get(name="dure: queue probes")
    slower = IntervalSchedule.objects.create(every=7, period="minutes")
    change = address(PeriodicTask, "change", task.pk)
    values = {"interval": str(slower.pk), "description": "x", "name": "mine", "task": "other", "enabled": ""}
    assert root.post(change, values).status_code == 302
    task.refresh_from_db()
    assert (task.interval, task.enabled) == (slower, True)
    assert (task.name, task.task) == ("dure: queue probes", "dure.send_queue_probes")
    assert root.post(address(PeriodicTask, "delete", task.pk), {"post": "yes"}).status_code == 403


def test_an_interval_in_use_is_not_deleted(root):
    task = PeriodicTask.objects.get(name="dure: queue probes")
    used = address(IntervalSchedule, "delete", task.interval.pk)
    assert root.post(used, {"post": "yes"}).status_code == 403
    spare = IntervalSchedule.objects.create(every=7, period="minutes")
    root.post(address(IntervalSchedule, "delete", spare.pk), {"post": "yes"})
    assert not IntervalSchedule.objects.filter(pk=spare.pk).exists()
    assert "delete_selected" not in root.get(address(IntervalSchedule, "changelist")).content.decode()


def test_a_message_cannot_stand_for_a_schedule(root):
    every = IntervalSchedule.objects.create(every=7, period="minutes")
    values = {"name": "sums", "regtask": "", "task": "demo.sum", "interval": str(every.pk)}
    values |= {"args": "[]", "kwargs": "{}", "headers": "{}"}
    page = root.post(address(PeriodicTask, "add"), values)
    assert "create a schedule for it" in page.content.decode()
    assert root.post(address(PeriodicTask, "add"), values | {"task": "dure.sweep"}).status_code == 302

"""Every page asks visitors to sign in, takes a form with its CSRF token only, and is the owner's alone."""

import re
import uuid
from collections.abc import Iterable, Iterator

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from tests.factories import a_user
from tests.integration.pages.clients import signed_in
from tests.integration.security.tenants import SHARED, Tenant, changes, snapshot, undone
from tests.workers import ROOT

pytestmark = pytest.mark.django_db

# These serve visitors: they sign in and out, set preferences, or lead on.
OPEN = {
    *("/login", "/login/oidc", "/login/oidc/callback", "/logout", "/password/reset", "/password/new/x/x"),
    *("/language", "/preferences", "/favicon.ico"),
}
# tests/integration/security/operations.py has the operations of the API; Django tests its admin.
OTHERS = ("/api/", "/admin/")
# The ends of the paths that act without a form or a confirmation of their own.
ACTS = {
    *("act", "activate", "cancel", "check", "copy", "drain"),
    *("limits", "pause", "password", "rerun", "resume"),
    *("revoke", "run", "seen", "tokens", "views"),
}
SAMPLES = {"uuid": str(uuid.UUID(int=1)), "int": "1", "id": "1"}
# What an address has beside ids.
WORDS = {"action": "disable", "kind": "gif", "verb": "cancel"}
PARAMETER = re.compile(r"<(?:(\w+):)?(\w+)>")


def routes(patterns: Iterable[URLPattern | URLResolver], prefix: str = "/") -> Iterator[str]:
    for pattern in patterns:
        path = prefix + str(pattern.pattern)
        if path.startswith(OTHERS):
            continue
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, path)
        else:
            yield path


def sample(route: str) -> str:
    return PARAMETER.sub(lambda match: SAMPLES.get(match[1], "x"), route)


def routes_of_pages() -> list[str]:
    paths = set(routes(get_resolver().url_patterns))
    assert {sample(path) for path in paths} > OPEN
    return sorted(path for path in paths if sample(path) not in OPEN)


def pages() -> list[str]:
    return [sample(route) for route in routes_of_pages()]


def pages_of(tenant: Tenant) -> Iterator[str]:
    """The addresses that name an object of the tenant."""
    for route in routes_of_pages():
        names = {name for _, name in PARAMETER.findall(route)} - WORDS.keys()
        if names - SHARED.keys():
            path = PARAMETER.sub(lambda match: WORDS.get(match[2], f"{{{match[2]}}}"), route)
            yield tenant.fill(path, sorted(names))


def form_of(tenant: Tenant) -> dict[str, str]:
    """What some pages need to act."""
    return {"sure": "yes", "verb": "cancel", "username": tenant.id_of("username")}


def test_every_page_redirects_a_visitor_to_sign_in():
    assert len(pages()) > 100
    for path in pages():
        # A page that only shows does not answer POST, and one that only acts does not answer GET.
        answers = [
            answer for answer in (Client().get(path), Client().post(path)) if answer.status_code != 405
        ]
        assert answers, path
        for answer in answers:
            target = answer.get("Location") or answer["HX-Redirect"]
            assert (answer.status_code in (204, 302), answer.content) == (True, b""), path
            assert target.startswith("/login?next=/"), path


def test_every_form_needs_its_csrf_token():
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(a_user("alice"))
    for path in pages():
        assert strict.post(path).status_code == 403, path


def test_a_page_that_only_acts_answers_no_get():
    client = Client()
    client.force_login(a_user("alice"))
    paths = [path for path in pages() if path.rpartition("/")[2] in ACTS]
    assert {path.rpartition("/")[2] for path in paths} == ACTS
    for path in paths:
        assert client.get(path).status_code == 405, path


def test_the_objects_of_another_tenant_have_no_page(ours, theirs):
    stranger, before = signed_in(ours.owner), snapshot()
    wrong = [
        f"{path}: {answer.status_code}"
        for path in pages_of(theirs)
        for answer in (stranger.get(path), stranger.post(path, form_of(theirs)))
        if answer.status_code not in (404, 405)
    ]
    assert not wrong, "\n".join(wrong)
    assert changes(before) == []


def test_the_objects_of_a_tenant_have_these_pages(ours):
    """The control: the addresses above name what exists. Dead letters are for staff."""
    owner, paths = signed_in(ours.owner), list(pages_of(ours))
    assert len(paths) > 60
    for path in paths:
        with undone():
            statuses = {owner.get(path).status_code, owner.post(path, form_of(ours)).status_code}
        assert (statuses <= {404, 405}) == path.startswith("/deadletters"), (path, statuses)


def test_no_template_has_styles_scripts_or_handlers_that_the_policy_forbids():
    apps = ("config", "jobs", "scheduler", "exports")
    templates = [path for app in apps for path in (ROOT / app).rglob("*.html")]
    assert len(templates) > 100
    for path in templates:
        text = path.read_text()
        for forbidden in (' style="', "<style", "onclick", "<script>", 'src="http', "hx-on"):
            assert forbidden not in text, (path, forbidden)

"""Every page asks visitors to sign in, and no page accepts a form without its CSRF token."""

import re
import uuid
from collections.abc import Iterable, Iterator

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from tests.factories import a_user
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


def routes(patterns: Iterable[URLPattern | URLResolver], prefix: str = "/") -> Iterator[str]:
    for pattern in patterns:
        path = prefix + str(pattern.pattern)
        if path.startswith(OTHERS):
            continue
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, path)
        else:
            yield re.sub(r"<(?:(\w+):)?\w+>", lambda match: SAMPLES.get(match[1], "x"), path)


def pages() -> list[str]:
    paths = set(routes(get_resolver().url_patterns))
    assert paths > OPEN
    return sorted(paths - OPEN)


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


def test_no_template_has_styles_scripts_or_handlers_that_the_policy_forbids():
    apps = ("config", "jobs", "scheduler", "exports")
    templates = [path for app in apps for path in (ROOT / app).rglob("*.html")]
    assert len(templates) > 100
    for path in templates:
        text = path.read_text()
        for forbidden in (' style="', "<style", "onclick", "<script>", 'src="http', "hx-on"):
            assert forbidden not in text, (path, forbidden)

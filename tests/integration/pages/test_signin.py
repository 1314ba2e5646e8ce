"""The sign-in page says where a development system's passwords are, and never what they are."""

import pytest

from config import dev
from tests.integration.pages.clients import page_text

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("environment", "exists", "has_hint"),
    [("development", True, True), ("development", False, False), ("production", True, False)],
)
def test_the_sign_in_page_says_where_the_passwords_are(
    client, settings, tmp_path, environment, exists, has_hint
):
    settings.DURE_ENV, settings.DURE_HOME = environment, tmp_path
    file = tmp_path / dev.CREDENTIALS
    if exists:
        file.write_text('{"users": [{"username": "alice", "password": "open sesame"}]}')
    text = page_text(client, "/login")
    assert (str(file) in text) == has_hint
    assert "open sesame" not in text
    assert (
        "개발 시스템" in client.get("/login", headers={"Accept-Language": "ko"}).content.decode()
    ) == has_hint

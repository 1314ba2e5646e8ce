"""The settings of the single sign-on are refused at the start if they cannot work."""

import os
import subprocess
import sys

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import env
from tests.workers import ROOT

COMPLETE = {"ISSUER": "https://id.example/realm", "CLIENT_ID": "dure", "CLIENT_SECRET": "secret"}


@pytest.mark.parametrize(
    ("url", "http"),
    [
        ("id.example", True),
        ("ftp://id.example", True),
        ("http://id.example", False),
        ("https://user:password@id.example", False),
        ("https://id.example?x=1", False),
        ("https://", False),
        ("https://id.example:port", False),
    ],
)
def test_an_issuer_is_an_address_in_production_by_https(url, http, monkeypatch):
    monkeypatch.setenv("DURE_OIDC_ISSUER", url)
    with pytest.raises(ImproperlyConfigured, match="DURE_OIDC_ISSUER"):
        env.issuer("DURE_OIDC_ISSUER", http=http)


def test_an_issuer_is_kept_as_it_is_written(monkeypatch):
    assert env.issuer("DURE_OIDC_ISSUER", http=False) == ""
    for url in ("https://id.example", "https://id.example:8443/realm/"):
        monkeypatch.setenv("DURE_OIDC_ISSUER", url)
        assert env.issuer("DURE_OIDC_ISSUER", http=False) == url


def start(**variables: str) -> str:
    """What the settings say with these variables; empty if they load."""
    named = {f"DURE_OIDC_{name}": value for name, value in (COMPLETE | variables).items()}
    program = [sys.executable, "-c", "import config.settings"]
    done = subprocess.run(
        program, cwd=ROOT, env=os.environ | named, capture_output=True, text=True, check=False
    )
    return done.stderr.strip().rpartition("\n")[2]


def test_settings_that_belong_together_are_refused_alone():
    assert start() == ""
    assert "needs DURE_OIDC_CLIENT_ID" in start(CLIENT_SECRET="")
    assert "must contain openid" in start(SCOPES="email profile")
    assert "belong together" in start(STAFF_CLAIM="groups")

"""Single sign-on, with a real OpenID provider on 127.0.0.1."""

from urllib.parse import parse_qsl, urlsplit

import pytest
from django.contrib.auth.models import User
from django.test import Client

from config.oidc import diagnostics
from config.oidc import provider as oidc
from jobs.models import Identity
from tests.factories import a_user
from tests.integration.admin.action_form import act
from tests.integration.openid_provider import CLIENT, SECRET, Provider, a_key, running_provider
from tests.integration.pages import clients as pages
from tests.integration.pages.clients import text_of

pytestmark = pytest.mark.django_db
FAILED = "The sign-in by your organisation failed."


@pytest.fixture
def provider(settings):
    with running_provider() as provider:
        settings.DURE_OIDC_ISSUER = provider.issuer
        settings.DURE_OIDC_CLIENT_ID, settings.DURE_OIDC_CLIENT_SECRET = CLIENT, SECRET
        yield provider
    oidc._client.cache_clear()


@pytest.fixture
def client():
    return Client(headers={"Accept-Language": "en"})


def callback_of(provider: Provider, client: Client, target: str = "") -> str:
    """The path to which the provider sends the browser."""
    answer = client.get("/login/oidc", {"next": target} if target else {})
    parts = urlsplit(provider.authorize(answer["Location"]))
    assert parts.path == "/login/oidc/callback"
    return f"{parts.path}?{parts.query}"


def sign_in(provider: Provider, client: Client, target: str = ""):
    return client.get(callback_of(provider, client, target))


def user_of(client: Client) -> User | None:
    return User.objects.filter(pk=client.session.get("_auth_user_id", 0)).first()


def refusal_of(provider: Provider, client: Client) -> str:
    """The text of the page after a sign-in that is refused."""
    answer = client.get(callback_of(provider, client), follow=True)
    assert user_of(client) is None
    assert answer.redirect_chain[-1][0] == "/login"
    return text_of(answer)


def test_single_signon_is_off_without_an_issuer(client):
    assert "organisation" not in text_of(client.get("/login"))
    assert client.get("/login/oidc").status_code == 404
    assert client.get("/login/oidc/callback?code=1&state=2").status_code == 404


def test_a_known_user_signs_in_and_reaches_the_page_they_wanted(provider, client):
    alice = a_user("alice", email="Alice@example.com")
    assert 'href="/login/oidc?next=%2Fruns%3Fq%3Dx"' in text_of(client.get("/login?next=/runs%3Fq%3Dx"))
    answer = sign_in(provider, client, "/runs?q=x")
    assert answer["Location"] == "/runs?q=x"
    assert user_of(client) == alice
    assert client.get("/runs").status_code == 200
    identity = Identity.objects.get()
    assert (identity.user, identity.issuer, identity.subject) == (alice, provider.issuer, "1234")
    acts = list(alice.activity.values_list("act", "actor", "details"))
    assert acts == [("identity_linked", "alice", {"issuer": provider.issuer})]


def test_after_the_first_time_the_subject_counts_and_not_the_address(provider, client):
    alice = a_user("alice", email="alice@example.com")
    sign_in(provider, client)
    provider.claims |= {"email": "new@example.com"}
    other = Client()
    sign_in(provider, other)
    assert user_of(other) == alice
    # Another person who has got the address opens nothing.
    provider.claims |= {"sub": "5678", "email": "alice@example.com"}
    assert "linked already" in refusal_of(provider, Client(headers={"Accept-Language": "en"}))


def test_unknown_users_are_refused_unless_they_may_be_created(provider, client, settings):
    assert "no active account" in refusal_of(provider, client)
    assert not User.objects.exists()
    settings.DURE_OIDC_CREATE_USERS = True
    sign_in(provider, client)
    user = user_of(client)
    assert (user.username, user.email, user.is_staff) == ("alice@example.com", "alice@example.com", False)
    assert not user.has_usable_password()


def test_users_may_be_known_by_name_whose_claim_comes_with_the_user_data(provider, client, settings):
    settings.DURE_OIDC_USER_CLAIM = "preferred_username"
    assert "preferred_username is missing" in refusal_of(provider, client)
    provider.user_data = {"preferred_username": "alice"}
    alice = a_user("alice")
    sign_in(provider, client)
    assert user_of(client) == alice
    assert "/me" in provider.requests


@pytest.mark.parametrize("change", [{"email_verified": False}, {"email": ""}, {"email": ["a@b"]}])
def test_an_address_must_be_verified(provider, client, change):
    a_user("alice", email="alice@example.com")
    provider.claims |= change
    assert "not verified" in refusal_of(provider, client)
    assert not Identity.objects.exists()


def test_an_inactive_user_is_refused_also_after_the_first_time(provider, client):
    alice = a_user("alice", email="alice@example.com")
    sign_in(provider, client)
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert "no active account" in refusal_of(provider, Client(headers={"Accept-Language": "en"}))


def test_a_claim_says_who_is_staff_if_it_is_configured(provider, client, settings):
    alice = a_user("alice", email="alice@example.com", is_staff=True)
    sign_in(provider, client)
    assert User.objects.get(pk=alice.pk).is_staff
    settings.DURE_OIDC_STAFF_CLAIM, settings.DURE_OIDC_STAFF_VALUE = "groups", "operators"
    for groups, expected in ((["operators"], True), (["others"], False), ("operators", True), (None, False)):
        provider.claims["groups"] = groups
        sign_in(provider, Client())
        assert User.objects.get(pk=alice.pk).is_staff is expected


@pytest.mark.parametrize(
    "forged",
    [
        {"aud": "another client"},
        {"iss": "https://evil.example"},
        {"nonce": "replayed"},
        {"exp": 1},
        {"sub": ""},
    ],
)
def test_a_wrong_id_token_is_refused(provider, client, forged):
    a_user("alice", email="alice@example.com")
    provider.forged = forged
    assert FAILED in refusal_of(provider, client)


def test_a_signature_of_another_key_is_refused(provider, client):
    a_user("alice", email="alice@example.com")
    provider.signing_key = a_key("another")
    assert FAILED in refusal_of(provider, client)


def test_a_callback_without_its_state_a_second_one_and_an_error_are_refused(provider, client):
    a_user("alice", email="alice@example.com")
    path = callback_of(provider, client)
    stranger = Client(headers={"Accept-Language": "en"})
    assert FAILED in text_of(stranger.get(path, follow=True))
    assert user_of(stranger) is None
    assert client.get(path)["Location"] == "/"
    client.logout()
    for again in (path, "/login/oidc/callback", "/login/oidc/callback?error=access_denied&state=x"):
        assert FAILED in text_of(client.get(again, follow=True))
        assert user_of(client) is None


def test_a_target_on_another_server_is_not_followed(provider, client):
    a_user("alice", email="alice@example.com")
    assert sign_in(provider, client, "https://evil.example/")["Location"] == "/"


def test_a_discovery_document_of_another_issuer_is_refused(provider, client):
    provider.discovery = {"issuer": "https://evil.example"}
    assert FAILED in text_of(client.get("/login/oidc", follow=True))


def test_internal_addresses_that_the_provider_names_are_not_reached(provider, client):
    a_user("alice", email="alice@example.com")
    with running_provider() as inner:
        provider.discovery = {"token_endpoint": f"{inner.issuer}/token"}
        assert FAILED in refusal_of(provider, client)
        assert inner.requests == []


def test_a_provider_that_does_not_answer_is_an_error_of_the_sign_in(provider, client, settings):
    with running_provider() as gone:
        settings.DURE_OIDC_ISSUER = gone.issuer
    answer = client.get("/login/oidc", follow=True)
    assert FAILED in text_of(answer)
    korean = Client(headers={"Accept-Language": "ko"}).get("/login/oidc", follow=True)
    assert "조직 계정으로 로그인하지 못했습니다" in text_of(korean)


def test_a_user_of_the_provider_signs_out_and_gets_a_link_to_sign_out_there(provider, client):
    a_user("alice", email="alice@example.com")
    sign_in(provider, client)
    page = text_of(client.post("/logout", follow=True))
    assert user_of(client) is None
    address = page.split(f'href="{provider.issuer}/leave')[1].split('"')[0].replace("&amp;", "&")
    query = dict(parse_qsl(address.lstrip("?")))
    assert query["client_id"] == CLIENT
    assert query["post_logout_redirect_uri"].endswith("/login")
    # By a password there is nobody to sign out elsewhere.
    client.force_login(User.objects.get())
    assert "/leave" not in text_of(client.post("/logout", follow=True))


def test_the_doctor_says_whether_the_provider_answers_as_configured(provider, settings):
    def messages() -> list[tuple[str, str]]:
        oidc._client.cache_clear()
        return [(message.obj, type(message).__name__) for message in diagnostics.check_provider()]

    assert messages() == [("provider", "Info"), ("encryption", "Warning")]
    provider.discovery = {"claims_supported": ["sub"]}
    assert messages()[-1] == ("claims", "Warning")
    provider.discovery = {"token_endpoint": ""}
    assert messages() == [("provider", "Error")]
    settings.DURE_OIDC_ISSUER = ""
    assert messages() == [("provider", "Info")]


def test_starts_are_limited_by_address_and_not_for_all_together(provider, settings):
    rates = {**settings.REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"], "anonymous": "3/min", "login": "3/min"}
    settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, "DEFAULT_THROTTLE_RATES": rates}

    def start(address: str) -> int:
        return Client().get("/login/oidc", REMOTE_ADDR=address).status_code

    assert [start(f"198.51.100.{number}") for number in range(5)] == [302] * 5
    assert [start("198.51.100.99") for _ in range(4)] == [302] * 3 + [429]


def test_an_operator_unlinks_an_identity_and_the_next_sign_in_links_it_anew(provider, client):
    alice = a_user("alice", email="alice@example.com")
    sign_in(provider, client)
    root = pages.sign_in("root", is_staff=True, is_superuser=True)
    act(root, Identity, "unlink", Identity.objects.get(), sure="yes")
    assert not Identity.objects.exists()
    sign_in(provider, Client())
    assert Identity.objects.get().user == alice
    acts = list(alice.activity.order_by("id").values_list("act", "actor"))
    assert acts == [("identity_linked", "alice"), ("identity_unlinked", "root"), ("identity_linked", "alice")]

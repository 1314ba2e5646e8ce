"""The provider: its addresses, and the identity of who has signed in there. Authlib does the protocol."""

from functools import lru_cache
from typing import Any
from urllib.parse import urlencode, urlsplit

from authlib.common.errors import AuthlibBaseError
from authlib.integrations.django_client import DjangoIntegration, DjangoOAuth2App
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from joserfc.errors import JoseError

from config.oidc.transport import RequestFailed, Session
from jobs.http_client.target import PORTS

# Of keys that only the provider has.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
DISCOVERY = "/.well-known/openid-configuration"
ADDRESSES = ("authorization_endpoint", "token_endpoint", "jwks_uri")


class SignInFailed(Exception):
    """The provider did not answer, refused, or answered what is not valid."""


class Client(DjangoOAuth2App):  # type: ignore[misc]
    client_cls = Session

    def load_server_metadata(self) -> dict[str, Any]:
        """The discovery document, read once: of this issuer, and with signatures that it alone makes."""
        metadata: dict[str, Any] = super().load_server_metadata()
        if metadata.get("issuer") != settings.DURE_OIDC_ISSUER:
            self.server_metadata.clear()
            raise SignInFailed(
                f"the discovery document names the issuer {str(metadata.get('issuer'))[:200]!r}"
            )
        if missing := [name for name in ADDRESSES if not metadata.get(name)]:
            self.server_metadata.clear()
            raise SignInFailed(f"the discovery document has no {', '.join(missing)}")
        named = metadata.get("id_token_signing_alg_values_supported", ())
        metadata["id_token_signing_alg_values_supported"] = [
            name for name in ALGORITHMS if name in named
        ] or ["RS256"]
        return metadata


@lru_cache(maxsize=4)
def _client(issuer: str, client_id: str, secret: str, scopes: str) -> Client:
    return Client(
        DjangoIntegration("oidc"),
        "oidc",
        client_id=client_id,
        client_secret=secret,
        server_metadata_url=issuer.rstrip("/") + DISCOVERY,
        client_kwargs={"scope": scopes, "code_challenge_method": "S256"},
    )


def client() -> Client:
    return _client(
        settings.DURE_OIDC_ISSUER,
        settings.DURE_OIDC_CLIENT_ID,
        settings.DURE_OIDC_CLIENT_SECRET,
        settings.DURE_OIDC_SCOPES,
    )


ERRORS = (
    AuthlibBaseError,
    JoseError,
    RequestFailed,
    RuntimeError,
    ValueError,
    KeyError,
    TypeError,
)


def callback_address() -> str:
    return f"{settings.BASE_URL}/login/oidc/callback"


def start(request: HttpRequest) -> HttpResponse:
    """Redirects to the provider."""
    try:
        response: HttpResponse = client().authorize_redirect(request, callback_address())
    except ERRORS as error:
        raise SignInFailed(_text(error)) from error
    return response


def finish(request: HttpRequest) -> dict[str, Any]:
    """The claims of who has signed in there, with those of the user's data where the token lacks some."""
    provider = client()
    try:
        token = provider.authorize_access_token(request)
        claims = dict(token.get("userinfo") or {})
        if not claims.get("sub"):
            raise SignInFailed("the answer has no ID token")
        needed = {settings.DURE_OIDC_USER_CLAIM, settings.DURE_OIDC_STAFF_CLAIM} - {""}
        if not needed <= set(claims) and provider.load_server_metadata().get("userinfo_endpoint"):
            more = dict(provider.userinfo(token=token))
            if more.get("sub") != claims["sub"]:
                raise SignInFailed("the user's data is of another user")
            claims = more | claims
    except ERRORS as error:
        raise SignInFailed(_text(error)) from error
    return claims


def end_session_address() -> str:
    """Where the user signs out of the provider too; empty if it has no such address, or does not answer."""
    try:
        address = client().load_server_metadata().get("end_session_endpoint")
    except (SignInFailed, *ERRORS):
        return ""
    if not address or urlsplit(address).scheme not in PORTS:
        return ""
    back = {
        "client_id": settings.DURE_OIDC_CLIENT_ID,
        "post_logout_redirect_uri": f"{settings.BASE_URL}/login",
    }
    return f"{address}{'&' if urlsplit(address).query else '?'}{urlencode(back)}"


def _text(error: Exception) -> str:
    """Without what the provider may have put into its answer."""
    return f"{type(error).__name__}: {str(error)[:300]}"

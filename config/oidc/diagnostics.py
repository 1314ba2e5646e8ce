"""Checks the single sign-on: that the provider answers, and as the settings say."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage

from config.oidc import provider
from jobs.diagnostics import error, ok, register, warning


@register("sign-on")
def check_provider() -> Iterator[CheckMessage]:
    issuer = settings.DURE_OIDC_ISSUER
    if not issuer:
        yield ok("provider", "DURE_OIDC_ISSUER is not set: users sign in by a password only")
        return
    try:
        metadata = provider.client().load_server_metadata()
    except (provider.SignInFailed, *provider.ERRORS) as failed:
        hint = f"see whether {issuer.rstrip('/')}{provider.DISCOVERY} is the provider's discovery document"
        yield error("provider", str(failed)[:300], hint)
        return
    yield ok("provider", f"{issuer} answers; the callback to register there is {provider.callback_address()}")
    plain = [name for name in provider.ADDRESSES if urlsplit(str(metadata[name])).scheme != "https"]
    if plain:
        yield warning("encryption", f"not https: {', '.join(plain)}", "tokens and the secret are sent there")
    claims = metadata.get("claims_supported")
    needed = [name for name in (settings.DURE_OIDC_USER_CLAIM, settings.DURE_OIDC_STAFF_CLAIM) if name]
    if isinstance(claims, list) and (missing := [name for name in needed if name not in claims]):
        hint = "add a scope to DURE_OIDC_SCOPES, or configure the claim at the provider"
        yield warning("claims", f"the provider does not list {', '.join(missing)}", hint)

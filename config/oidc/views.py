"""Signs users in by the provider."""

import logging

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from config.oidc import provider
from config.signin import too_many
from jobs import identities
from jobs.api.framework import throttling
from jobs.errors import Refused

NEXT, BY_PROVIDER = "oidc_next", "oidc"
BACKEND = "django.contrib.auth.backends.ModelBackend"

log = logging.getLogger(__name__)


@require_safe
@never_cache
def start(request: HttpRequest) -> HttpResponse:
    _require_provider()
    wait = throttling.count_anonymous(request)
    if wait is not None:
        return too_many(wait)
    request.session[NEXT] = request.GET.get("next", "")
    try:
        return provider.start(request)
    except provider.SignInFailed as failed:
        return _refuse(request, str(failed))


@require_safe
@never_cache
def callback(request: HttpRequest) -> HttpResponse:
    _require_provider()
    target = request.session.pop(NEXT, "")
    try:
        claims = provider.finish(request)
        user = identities.user_of(settings.DURE_OIDC_ISSUER, claims)
    except provider.SignInFailed as failed:
        return _refuse(request, str(failed))
    except Refused as refused:
        return _refuse(request, str(refused), str(refused.text))
    login(request, user, backend=BACKEND)
    request.session[BY_PROVIDER] = True
    safe = url_has_allowed_host_and_scheme(target, {request.get_host()}, require_https=request.is_secure())
    return redirect(target if safe else settings.LOGIN_REDIRECT_URL)


def _require_provider() -> None:
    if not settings.DURE_OIDC_ISSUER:
        raise Http404


def _refuse(request: HttpRequest, reason: str, text: str = "") -> HttpResponse:
    log.warning("single sign-on failed: %s", reason)
    messages.error(
        request, text or _("The sign-in by your organisation failed. Try again, or ask an operator.")
    )
    return redirect(settings.LOGIN_URL)

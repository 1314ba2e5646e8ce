"""The pages that sign users in by a password, and out."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponseBase
from django.utils.html import format_html
from django.utils.translation import gettext as _

from config import dev
from config.oidc import provider
from config.oidc.views import BY_PROVIDER


def file_of_passwords() -> Path | None:
    """Where `make up` has written the passwords of its users; None in production."""
    if settings.DURE_ENV != "development":
        return None
    file = Path(settings.DURE_HOME) / dev.CREDENTIALS
    return file if file.exists() else None


class SignInView(LoginView):
    template_name = "login.html"
    redirect_authenticated_user = True

    def get_context_data(self, **more: Any) -> dict[str, Any]:
        return super().get_context_data(
            mail_is_set=settings.DURE_MAIL_IS_SET,
            has_provider=bool(settings.DURE_OIDC_ISSUER),
            passwords_in=file_of_passwords(),
            **more,
        )


class SignOutView(LogoutView):
    next_page = settings.LOGIN_URL

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """Who came by the provider is still signed in there, and gets a link that ends that too.

        A redirect would not do: pages may send forms to this server only.
        """
        is_by_provider = request.session.get(BY_PROVIDER) and settings.DURE_OIDC_ISSUER
        response: HttpResponseBase = super().post(request, *args, **kwargs)
        if is_by_provider and (address := provider.end_session_address()):
            link = format_html('<a href="{}">{}</a>', address, _("Sign out of your organisation too"))
            messages.info(request, format_html("{} {}", _("You are signed out of Dure."), link))
        return response

"""A new password by a link that is sent by mail. Nothing tells whether an account exists."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import views
from django.http import Http404, HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from config.signin import too_many
from jobs import passwords
from jobs.api.framework import throttling


class RequestView(views.PasswordResetView):
    template_name = "password_reset.html"
    success_url = settings.LOGIN_URL

    def form_valid(self, form: Any) -> HttpResponseRedirect:
        """A worker sends the mail, so that an address without an account takes as long as another."""
        users = [user.pk for user in form.get_users(form.cleaned_data["email"])]
        passwords.request_reset(users, get_language() or settings.LANGUAGE_CODE)
        text = _("If an account has this address, we have sent it a mail with a link for a new password.")
        messages.success(self.request, text)
        return HttpResponseRedirect(self.get_success_url())


class NewPasswordView(views.PasswordResetConfirmView):
    template_name = "password_new.html"
    success_url = settings.LOGIN_URL

    def form_valid(self, form: Any) -> Any:
        messages.success(
            self.request, _("Password changed. You were signed out everywhere; sign in with it now.")
        )
        return super().form_valid(form)


View = Callable[..., HttpResponseBase]


def _require_mail(view: View) -> View:
    @wraps(view)
    def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not settings.DURE_MAIL_IS_SET:
            raise Http404
        return view(request, *args, **kwargs)

    return never_cache(wrapper)


def _throttle(view: View) -> View:
    @wraps(view)
    def wrapper(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.method == "POST":
            wait = throttling.count_reset(request, request.POST.get("email", ""))
            if wait is not None:
                return too_many(wait)
        return view(request, *args, **kwargs)

    return wrapper


request_reset = _require_mail(_throttle(RequestView.as_view()))
new_password = _require_mail(NewPasswordView.as_view())

"""A new password by a link that is sent by mail. Nothing tells whether an account exists."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import views
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.utils.decorators import method_decorator
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views import View
from django.views.decorators.cache import never_cache

from config.signin import too_many
from jobs import passwords
from jobs.api.framework import throttling


@method_decorator([login_not_required, never_cache], name="dispatch")
class MailView(View):
    """404 where no mail can be sent."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not settings.DURE_MAIL_IS_SET:
            raise Http404
        return super().dispatch(request, *args, **kwargs)


class RequestView(MailView, views.PasswordResetView):
    template_name = "password_reset.html"
    success_url = settings.LOGIN_URL

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        wait = throttling.count_reset(request, request.POST.get("email", ""))
        return super().post(request, *args, **kwargs) if wait is None else too_many(wait)

    def form_valid(self, form: Any) -> HttpResponseRedirect:
        """A worker sends the mail, so that an address without an account takes as long as another."""
        users = [user.pk for user in form.get_users(form.cleaned_data["email"])]
        passwords.request_reset(users, get_language() or settings.LANGUAGE_CODE)
        text = _("If an account has this address, we have sent it a mail with a link for a new password.")
        messages.success(self.request, text)
        return HttpResponseRedirect(self.get_success_url())


class NewPasswordView(MailView, views.PasswordResetConfirmView):
    template_name = "password_new.html"
    success_url = settings.LOGIN_URL

    def form_valid(self, form: Any) -> Any:
        messages.success(
            self.request, _("Password changed. You were signed out everywhere; sign in with it now.")
        )
        return super().form_valid(form)

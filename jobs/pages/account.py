"""The user's own account: password, API tokens, language."""

from math import ceil
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import password_validators_help_text_html
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from jobs import tokens
from jobs.api.framework import throttling
from jobs.models import ApiToken
from jobs.pages.edit_form import EditForm
from jobs.pages.permissions import current_user

MOST_TOKENS = 200
MOST_ACTS = 20
DEFAULT_DAYS = 90


class TokenForm(EditForm):
    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=tokens.LONGEST_NAME,
        help_text=gettext_lazy("What the token is for, such as the name of a script."),
    )
    days = forms.IntegerField(
        label=gettext_lazy("Expires after (days)"),
        required=False,
        min_value=1,
        max_value=tokens.MOST_DAYS,
        help_text=gettext_lazy("Empty: it never expires."),
    )


@require_safe
@never_cache
def account(request: HttpRequest) -> HttpResponse:
    return _render(request)


@sensitive_post_parameters()
@require_POST
def password(request: HttpRequest) -> HttpResponse:
    """Change the password. The other sessions end; API tokens stay."""
    user = current_user(request)
    # Before the old password is checked, as at the sign-in.
    wait = throttling.count_login(request, user.get_username())
    form = _password_form(user, request.POST)
    if wait is not None:
        seconds = max(1, ceil(wait))
        form.add_error(None, _("Too many attempts. Please wait %(seconds)s seconds.") % {"seconds": seconds})
        return _render(request, status=429, password_form=form)
    if not form.is_valid():
        return _render(request, status=400, password_form=form)
    with transaction.atomic():  # the activity log records it
        form.save()
    throttling.reset_login(user.get_username())
    update_session_auth_hash(request, form.user)
    messages.success(request, _("Password changed. You were signed out everywhere else."))
    return redirect("pages:account")


@require_POST
@never_cache
def issue_token(request: HttpRequest) -> HttpResponse:
    """Show a new token, once."""
    form = TokenForm(request.POST, initial={})
    if not form.is_valid():
        return _render(request, status=400, token_form=form)
    plain = tokens.issue(current_user(request), form.cleaned_data["name"], form.cleaned_data["days"])
    return _render(request, new_token=plain)


@require_POST
def revoke_token(request: HttpRequest, token_id: int) -> HttpResponse:
    own = ApiToken.objects.filter(user=current_user(request), pk=token_id)
    if not own.exists():
        raise Http404
    if tokens.revoke(own):
        messages.success(request, _("Token revoked. Requests with it are refused from now on."))
    return redirect("pages:account")


def _password_form(user: User, data: Any = None) -> PasswordChangeForm:
    form = PasswordChangeForm(user, data, auto_id=False)
    for name, field in form.fields.items():
        field.widget.attrs["aria-describedby"] = f"why-{name}"
        field.widget.attrs.pop("autofocus", None)
        # A list, which the page shows below the fields.
        field.help_text = ""
    return form


def _render(request: HttpRequest, *, status: int = 200, **more: Any) -> HttpResponse:
    user = current_user(request)
    now = timezone.now()
    newest = ApiToken.objects.filter(user=user)[:MOST_TOKENS]
    context = {
        "tokens": [{"token": token, "is_alive": token.is_alive(now)} for token in newest],
        "token_form": TokenForm(initial={"days": DEFAULT_DAYS}),
        "password_form": more.get("password_form") or _password_form(user),
        "rows": user.activity.order_by("-id")[:MOST_ACTS],
        "password_help": password_validators_help_text_html(),
        **more,
    }
    return render(request, "jobs/account.html", context, status=status)

"""API tokens, identities, socket tickets, idempotency records and deletions; of secrets only a new token."""

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from jobs import identities, tokens
from jobs.admin.actions import RowAction
from jobs.admin.base import LargeTableAdmin, PlainReadOnlyAdmin, ReadOnlyAdmin
from jobs.admin.columns import USER
from jobs.admin.forms import secret_page
from jobs.models import ApiToken, Deletion, IdempotentAnswer, Identity, SocketTicket
from jobs.pages.permissions import current_user


class TokenForm(forms.ModelForm):  # type: ignore[type-arg]
    plain = ""

    class Meta:
        model = ApiToken
        fields = ("user", "name", "expires_at")


@admin.register(Identity)
class IdentityAdmin(ReadOnlyAdmin):
    list_display = (USER, "issuer", "subject", "created_at")
    list_select_related = ("user",)
    people = ("user",)
    beginnings = ("subject",)
    fields = ("user", "issuer", "subject", "created_at")
    row_actions = (
        RowAction(
            "unlink",
            _("Unlink…"),
            lambda n: ngettext("Unlink %d identity", "Unlink %d identities", n) % n,
            do=lambda identity, operator: identities.unlink(identity),
            note=_("At the next sign-in the user is found anew, by the claim that the settings name."),
        ),
    )


@admin.register(ApiToken)
class ApiTokenAdmin(LargeTableAdmin):
    form = TokenForm
    list_display = ("prefix", "name", USER, "created_at", "last_used_at", "expires_at", "revoked_at")
    list_select_related = ("user",)
    people = ("user",)
    beginnings = ("prefix", "name")
    autocomplete_fields = ("user",)
    row_actions = (
        RowAction(
            "revoke",
            _("Revoke…"),
            lambda n: ngettext("Revoke %d token", "Revoke %d tokens", n) % n,
            do=lambda token, operator: tokens.revoke(ApiToken.objects.filter(pk=token.pk)),
            refusal=lambda token: _("revoked already") if token.revoked_at else "",
            note=_("Requests with this token are refused from now on. This cannot be undone."),
        ),
    )

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        fields = ("user", "name", "expires_at")
        return (*fields, "prefix", "created_at", "last_used_at", "revoked_at") if obj else fields

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ("user", "prefix", "created_at", "last_used_at", "revoked_at") if obj else ()

    def has_change_permission(self, request: HttpRequest, obj: ApiToken | None = None) -> bool:
        allowed = super().has_change_permission(request, obj)
        return allowed and (obj is None or obj.revoked_at is None)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        field: Any = super().formfield_for_foreignkey(db_field, request, **kwargs)
        if db_field.name == "user" and not current_user(request).is_superuser:
            # A token for another user would let its holder act as them.
            field.queryset = User.objects.filter(pk=current_user(request).pk)
        return field

    def save_model(self, request: HttpRequest, obj: ApiToken, form: Any, change: bool) -> None:
        if change:
            obj.save(update_fields=["name", "expires_at"])
            return
        data = form.cleaned_data
        token, form.instance.plain = tokens.issue_until(data["user"], data["name"], data["expires_at"])
        obj.pk, obj._state.adding = token.pk, False

    def response_add(
        self, request: HttpRequest, obj: Any, post_url_continue: str | None = None
    ) -> HttpResponse:
        return secret_page(self, request, _("The new token"), obj.plain)


@admin.register(SocketTicket)
class SocketTicketAdmin(ReadOnlyAdmin):
    """Each opens one socket within seconds; its digest and its session key are not shown."""

    list_display = ("__str__", USER, "expires_at")
    list_select_related = ("user",)
    people = ("user",)
    fields = ("user", "token", "expires_at")
    ordering = ("-expires_at",)


@admin.register(IdempotentAnswer)
class IdempotentAnswerAdmin(ReadOnlyAdmin):
    """The answers are not shown: they may contain a token or a secret that is shown only once."""

    list_display = ("id", USER, "path", "key", "status", "created_at")
    list_select_related = ("user",)
    people = ("user",)
    beginnings = ("key", "path")
    fields = ("user", "path", "key", "status", "location", "created_at")


@admin.register(Deletion)
class DeletionAdmin(PlainReadOnlyAdmin):
    # The row may hold the secrets of arguments.
    list_display = ("kind", "user", "deleted_at", "undone_at")
    list_select_related = ("user",)

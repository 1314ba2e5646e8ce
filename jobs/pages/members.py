"""The members of an office: adding them, changing their roles, removing them. For its owners."""

from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from jobs import members
from jobs.access import Access, access_for
from jobs.pages.edit_form import EditForm
from jobs.pages.permissions import current_user, office_access, office_context
from jobs.pages.verbs import call_verb
from jobs.states import MemberRole

MOST_LISTED = 500


class MemberForm(EditForm):
    username = forms.CharField(
        label=gettext_lazy("User name"),
        max_length=150,
        widget=forms.TextInput({"autocapitalize": "none", "spellcheck": "false", "autocomplete": "off"}),
    )
    role = forms.ChoiceField(label=gettext_lazy("Role"), choices=MemberRole.choices)


@require_http_methods(["GET", "HEAD", "POST"])
def office_members(request: HttpRequest, office_id: UUID) -> HttpResponse:
    """The list; a POST adds a member or changes a role."""
    access = office_access(request, office_id, MemberRole.OWNER)
    posted = request.POST if request.method == "POST" else None
    form = MemberForm(posted, initial={"role": MemberRole.OPERATOR})
    saved = form.save(lambda: members.set_role(access.office, **form.cleaned_data))
    if saved is None:
        return _render(request, access, form)
    _member, is_new = saved
    text = _("%(name)s is a member now.") if is_new else _("The role of %(name)s was changed.")
    messages.success(request, text % {"name": form.cleaned_data["username"]})
    return _redirect(request, office_id)


@require_http_methods(["GET", "HEAD", "POST"])
def remove_member(request: HttpRequest, office_id: UUID) -> HttpResponse:
    """Ask, then remove the member in `username`."""
    access = office_access(request, office_id, MemberRole.OWNER)
    office = access.office
    username = (request.POST if request.method == "POST" else request.GET).get("username", "")
    if not office.memberships.filter(user__username=username).exists():
        raise Http404
    if request.method != "POST":
        context = {**office_context(access), "username": username}
        return render(request, "jobs/member_remove.html", context)
    removed = _("%(name)s is no longer a member.") % {"name": username}
    call_verb(request, lambda: members.remove(office, username), removed)
    return _redirect(request, office_id)


def _redirect(request: HttpRequest, office_id: UUID) -> HttpResponse:
    """Back to the list, unless owners took their own role away."""
    access = access_for(current_user(request), office_id)
    if access is None or not access.may(MemberRole.OWNER):
        return redirect("pages:offices")
    return redirect("pages:members", office_id)


def _render(request: HttpRequest, access: Access, form: MemberForm) -> HttpResponse:
    listed = access.office.memberships.select_related("user").order_by("user__username")
    context = {
        **office_context(access, "members"),
        "form": form,
        "members": listed[:MOST_LISTED],
        "beyond": max(0, listed.count() - MOST_LISTED),
        "roles": MemberRole.choices,
    }
    return render(request, "jobs/members.html", context, status=400 if form.errors else 200)

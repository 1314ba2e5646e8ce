"""The lists of all admins: quick with millions of rows, linked to each other, and changed by verbs only."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin
from django.contrib.admin.widgets import AdminSplitDateTime
from django.contrib.auth.models import User
from django.core.paginator import Paginator
from django.db.models import DateTimeField, Field, Q, QuerySet
from django.forms import SplitDateTimeField
from django.http import HttpRequest, HttpResponse
from django.utils.functional import cached_property
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from jobs.admin.keyset import KeysetList
from jobs.admin.links import Link
from jobs.admin.search import as_id, ids_from
from jobs.api.framework.pagination import RoughPagination
from jobs.display import Text
from jobs.pages.permissions import current_user

if TYPE_CHECKING:
    Base = admin.ModelAdmin[Any]
else:
    Base = admin.ModelAdmin

# What no index answers is looked for among so many of the newest.
NEWEST = 100_000


class RoughPaginator(Paginator):  # type: ignore[type-arg]
    """For small tables, and for boxes that offer rows to choose from: exact up to some thousands."""

    @cached_property
    def count(self) -> int:
        return RoughPagination().count_of(self.object_list)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Order:
    """By which column a list is ordered and paged. `few`: by sorting, not by an index of all rows."""

    by: str
    few: bool = False


class DateAndTime(AdminSplitDateTime):
    """Django's own, with a name for each of its two fields."""

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        for field, label in zip(context["widget"]["subwidgets"], (_("Date"), _("Time")), strict=True):
            field["attrs"]["aria-label"] = label
        return context


class Linked(Base):
    """Pages of one row with links to what belongs to it, and drawings below its fields."""

    change_form_template = "admin/dure/change.html"
    formfield_overrides: ClassVar = {
        DateTimeField: {"form_class": SplitDateTimeField, "widget": DateAndTime},
    }

    class Media:
        css = {"all": ("jobs/admin.css",)}

    def links(self, request: HttpRequest, row: Any) -> list[Link]:
        """To the pages of the product, to Flower, and to lists of rows that belong to this one."""
        return []

    def panels(self, request: HttpRequest, row: Any) -> list[SafeString]:
        return []

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        title = capfirst(str(self.opts.verbose_name_plural))
        return super().changelist_view(request, {"title": title, **(extra_context or {})})

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        row = context.get("original")
        if row is not None:
            context |= {"links": self.links(request, row), "panels": self.panels(request, row)}
            if not self.has_change_permission(request, row):
                context["title"] = capfirst(str(self.opts.verbose_name))
        return super().render_change_form(request, context, *args, **kwargs)

    def has_operate_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """For the actions: who may change rows of this kind, though not field by field."""
        return current_user(request).has_perm(f"{self.opts.app_label}.change_{self.opts.model_name}")


class SmallList(Linked):
    """For tables of some thousands of rows, ordered by what people know them by."""

    paginator = RoughPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    list_per_page = 100
    list_max_show_all = 0


class QuickList(Linked):
    """For tables without end: newest first, by keyset; filters and searches that an index answers."""

    paginator = RoughPaginator
    show_full_result_count = False
    show_facets = admin.ShowFacets.NEVER
    change_list_template = "admin/dure/quick_list.html"
    list_per_page = 50
    # Sorting millions of rows by a column without an index takes minutes.
    sortable_by: ClassVar[tuple[str, ...]] = ()

    # Columns with an index that an id may be in, the first one first; links between rows go by them too.
    ids: ClassVar[tuple[str, ...]] = ()
    # Columns with an index that hold a user.
    people: ClassVar[tuple[str, ...]] = ()
    # Columns whose beginning is compared with words, among the newest rows.
    beginnings: ClassVar[tuple[str, ...]] = ()
    # The column in whose order there is an index for the rows of one: by the column that narrows the list.
    orders: ClassVar[Mapping[str, str]] = {}
    # The box is there when this is not empty; get_search_results does not read it.
    search_fields: ClassVar[tuple[str, ...]] = ("pk",)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[KeysetList]:
        return KeysetList

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Tells whose rows these are, where a link led here."""
        names = [name for name in (*self.ids, *self.people) if name in request.GET]
        narrowed = [(self.opts.get_field(name).verbose_name, request.GET[name]) for name in names]  # type: ignore[union-attr]
        return super().changelist_view(request, {"narrowed": narrowed, **(extra_context or {})})

    def order_within(self, params: Mapping[str, Any]) -> Order:
        return next((Order(by) for name, by in self.orders.items() if name in params), Order(self.key))

    @property
    def key(self) -> str:
        return str(self.opts.pk.attname)

    @property
    def search_help_text(self) -> Text:  # type: ignore[override]
        if self.beginnings:
            return _("An id, its beginning, or how a name begins (among the newest %(count)s).") % {
                "count": f"{NEWEST:,}"
            }
        return _("An id, its beginning, or a user's name.") if self.people else _("An id, or its beginning.")

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """By columns with an index, and by the filters beside the list; nothing that reads a whole table."""
        filters = {getattr(one, "parameter_name", None) for one in self.list_filter}
        return lookup in {*self.ids, *self.people, *filters} - {"pk"}

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        return (self.found(queryset, term) if term else queryset), False

    def found(self, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        """By the first that fits: an id is of one thing only, and each question has an index of its own."""
        everything = self.model._default_manager
        for name in ("pk", *self.ids):
            wanted = as_id(term, self._kind(name))
            if wanted is not None and everything.filter(**{name: wanted}).exists():
                return rows.filter(**{name: wanted})
        span = ids_from(term) if "UUID" in self._kind("pk") else None
        if span and everything.filter(pk__gte=span[0], pk__lte=span[1]).exists():
            return rows.filter(pk__gte=span[0], pk__lte=span[1])
        user = User.objects.filter(username=term).first() if self.people else None
        if user is not None:
            return rows.filter(**{self.people[0]: user})
        if not self.beginnings:
            return rows.none()
        begins = Q(pk__in=())
        for name in self.beginnings:
            begins |= Q(**{f"{name}__startswith": term})
        return newest(rows).filter(begins)

    def _kind(self, name: str) -> str:
        field: Field[Any, Any] = self.opts.pk if name == "pk" else self.opts.get_field(name)  # type: ignore[assignment]
        return str(getattr(field, "target_field", field).get_internal_type())


class LookOnly(QuickList):
    """Rows are written by verbs: an edited field would bypass their guards."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


def newest(rows: QuerySet[Any]) -> QuerySet[Any]:
    """Those among the newest of the table: for conditions that no index answers."""
    ids = rows.model._default_manager.order_by("-pk").values_list("pk", flat=True)
    oldest = next(iter(ids[NEWEST - 1 : NEWEST]), None)
    return rows if oldest is None else rows.filter(pk__gte=oldest)

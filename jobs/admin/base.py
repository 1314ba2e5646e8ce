"""The admins of small tables, of large tables, and of tables that only verbs write."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django.contrib.auth.models import User
from django.db.models import Field, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from jobs.admin.changelist import NEWEST, KeysetChangeList, Order, newest
from jobs.admin.rows import BaseAdmin
from jobs.admin.search import as_id, ids_from
from jobs.display import Text


class SmallTableAdmin(BaseAdmin):
    """An admin for tables of up to some thousands of rows."""

    list_per_page = 100
    list_max_show_all = 0


class LargeTableAdmin(BaseAdmin):
    """An admin for large tables: newest first, paged by key, with filters and searches that use an index."""

    change_list_template = "admin/dure/quick_list.html"
    list_per_page = 50
    # Sorting millions of rows by a column without an index takes minutes.
    sortable_by: ClassVar[tuple[str, ...]] = ()

    # The indexed columns with ids that a search reads, in this order; links between rows filter by them too.
    ids: ClassVar[tuple[str, ...]] = ()
    # Indexed columns that hold a user.
    people: ClassVar[tuple[str, ...]] = ()
    # Columns whose beginning is compared with the search term, among the newest rows.
    beginnings: ClassVar[tuple[str, ...]] = ()
    # The column by which the rows of a filtered list are indexed, by the column that filters it.
    orders: ClassVar[Mapping[str, str]] = {}
    # Makes Django show the search box; get_search_results does not read it.
    search_fields: ClassVar[tuple[str, ...]] = ("pk",)

    def get_changelist(self, request: HttpRequest, **kwargs: Any) -> type[KeysetChangeList]:
        return KeysetChangeList

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Name the row whose rows these are, if a link of it led here."""
        names = [name for name in (*self.ids, *self.people) if name in request.GET]
        narrowed = [(self.opts.get_field(name).verbose_name, request.GET[name]) for name in names]  # type: ignore[union-attr]
        return super().changelist_view(request, {"narrowed": narrowed, **(extra_context or {})})

    def order_within(self, params: Mapping[str, Any]) -> Order:
        columns = (column for name, column in self.orders.items() if name in params)
        return Order(next(columns, str(self.opts.pk.attname)))

    @property
    def search_help_text(self) -> Text:  # type: ignore[override]
        if self.beginnings:
            return _("An id, the start of an id, or the start of a name (among the newest %(count)s).") % {
                "count": f"{NEWEST:,}"
            }
        return (
            _("An id, the start of an id, or a user name.")
            if self.people
            else _("An id, or the start of an id.")
        )

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest | None = None) -> bool:
        """Allow indexed columns and the filters of the list, since others would read the whole table."""
        filters = {getattr(column, "parameter_name", None) for column in self.list_filter}
        return lookup in {*self.ids, *self.people, *filters} - {"pk"}

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        term = search_term.strip()
        return (self.search(queryset, term) if term else queryset), False

    def search(self, rows: QuerySet[Any], term: str) -> QuerySet[Any]:
        """Search by the first condition that matches. An id matches one row; each condition has an index."""
        everything = self.model._default_manager
        for name in ("pk", *self.ids):
            key = as_id(term, self._column_type(name))
            if key is not None and everything.filter(**{name: key}).exists():
                return rows.filter(**{name: key})
        span = ids_from(term) if "UUID" in self._column_type("pk") else None
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

    def _column_type(self, name: str) -> str:
        field: Field[Any, Any] = self.opts.pk if name == "pk" else self.opts.get_field(name)  # type: ignore[assignment]
        return str(getattr(field, "target_field", field).get_internal_type())


class ReadOnlyAdmin(LargeTableAdmin):
    """Rows that only verbs write: an edited field would bypass their guards."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class PlainReadOnlyAdmin(ReadOnlyAdmin):
    """Rows of a few columns, without a search: the page of a row has the columns of the list."""

    search_fields = ()

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.fields or self.list_display

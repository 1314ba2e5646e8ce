"""Lists of the admin that only look, and stay quick however many rows there are."""

from typing import TYPE_CHECKING, Any, ClassVar
from uuid import UUID

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _

from jobs.rest.pagination import RoughPagination

if TYPE_CHECKING:
    Base = admin.ModelAdmin[Any]
else:
    Base = admin.ModelAdmin


class RoughPaginator(Paginator):  # type: ignore[type-arg]
    """Counting two million rows takes longer than reading the page."""

    @cached_property
    def count(self) -> int:
        return RoughPagination().count_of(self.object_list)  # type: ignore[arg-type]


class LookOnly(Base):
    """Rows are written by verbs: an edited field would bypass their guards."""

    paginator = RoughPaginator
    show_full_result_count = False
    ordering: ClassVar[tuple[str, ...]] = ("-id",)
    list_per_page = 50
    # Sorting millions of rows by a column without an index takes minutes.
    sortable_by: ClassVar[tuple[str, ...]] = ()
    # Which columns an id that is searched for may be in.
    ids: tuple[str, ...] = ("pk",)
    search_help_text = _("An id, in full.")
    search_fields: ClassVar[tuple[str, ...]] = ("pk",)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        if not search_term:
            return queryset, False
        try:
            wanted: UUID | int = int(search_term) if search_term.isdecimal() else UUID(search_term)
        except ValueError:
            return queryset.none(), False
        condition = Q(pk__in=())
        for name in self.ids:
            field = self.opts.pk if name == "pk" else self.opts.get_field(name)
            is_uuid = "UUID" in getattr(field, "target_field", field).get_internal_type()
            if is_uuid == isinstance(wanted, UUID):
                condition |= Q(**{name: wanted})
        return queryset.filter(condition), False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_operate_permission(self, request: HttpRequest) -> bool:
        """For the actions: who may change rows of this kind, though not field by field."""
        return bool(request.user.has_perm(f"{self.opts.app_label}.change_{self.opts.model_name}"))

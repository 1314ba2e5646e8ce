"""Refuses query parameters that a list does not know: a misspelt filter must not answer everything."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from django.db.models import QuerySet
from django_filters.rest_framework import DjangoFilterBackend
from rest_framework.request import Request

from jobs.rest.problems import Problem

if TYPE_CHECKING:
    # DRF's views import this module by its name in the settings.
    from rest_framework.views import APIView

PAGING = ("page", "page_size")


def refuse_unknown(request: Request, allowed: Iterable[str]) -> None:
    """For a view without a filter set: `refuse_unknown(request, ("after", "limit"))`."""
    names = sorted(set(allowed))
    if unknown := [name for name in request.query_params if name not in names]:
        known = ", ".join(names) or "none"
        sentence = f"There is no such parameter; there are: {known}."
        raise Problem(
            400,
            "unknown_parameter",
            f"{unknown[0][:100]}: {sentence}",
            errors={name[:100]: [sentence] for name in unknown[:20]},
        )


class FilterBackend(DjangoFilterBackend):  # type: ignore[misc]
    """The view's filter set, its paging, and `also_allowed_parameters`; nothing else."""

    def filter_queryset(self, request: Request, queryset: QuerySet[Any], view: "APIView") -> QuerySet[Any]:
        filters = self.get_filterset_class(view, queryset)
        allowed = {*(filters.base_filters if filters else ()), *getattr(view, "also_allowed_parameters", ())}
        if getattr(view, "pagination_class", None):
            allowed |= set(PAGING)
        refuse_unknown(request, allowed)
        return super().filter_queryset(request, queryset, view)  # type: ignore[no-any-return]

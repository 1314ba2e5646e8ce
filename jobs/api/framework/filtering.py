"""Refuses query parameters that a list does not know: a misspelt filter must not answer everything.

Nor must one without a value, which is what a script sends whose variable is empty.
"""

from collections.abc import Iterable
from datetime import UTC
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django_filters.fields import IsoDateTimeField
from django_filters.rest_framework import DjangoFilterBackend, IsoDateTimeFilter, TypedChoiceFilter
from drf_spectacular.contrib.django_filters import DjangoFilterExtension
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework.request import Request

from jobs.api.framework.problem_details import Problem

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


def refuse_empty(request: Request, filters: Iterable[str]) -> None:
    sentence = "Must not be empty: leave it out."
    if empty := [name for name in filters if "" in request.query_params.getlist(name)]:
        raise Problem(400, "invalid", f"{empty[0]}: {sentence}", errors={name: [sentence] for name in empty})


@extend_schema_field(OpenApiTypes.BOOL)
class FlagFilter(TypedChoiceFilter):  # type: ignore[misc]
    """`true` or `false`. django-filter's own takes whatever else it is given for no filter at all."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        choices = (("true", "true"), ("false", "false"))
        super().__init__(*args, choices=choices, coerce=lambda text: text == "true", **kwargs)


class MomentField(IsoDateTimeField):  # type: ignore[misc]
    def to_python(self, value: Any) -> Any:
        try:
            moment = super().to_python(value)
            # In UTC, as PostgreSQL does not know every offset that a client may write.
            return moment and moment.astimezone(UTC)
        except OverflowError:
            raise ValidationError(self.error_messages["invalid"], code="invalid") from None


class MomentFilter(IsoDateTimeFilter):  # type: ignore[misc]
    """A time, with whatever offset."""

    field_class = MomentField


class FilterBackend(DjangoFilterBackend):  # type: ignore[misc]
    """The view's filter set, its paging, and `also_allowed_parameters`; nothing else."""

    def filter_queryset(self, request: Request, queryset: QuerySet[Any], view: "APIView") -> QuerySet[Any]:
        filters = self.get_filterset_class(view, queryset)
        own = set(filters.base_filters if filters else ())
        allowed = {*own, *getattr(view, "also_allowed_parameters", ())}
        if getattr(view, "pagination_class", None):
            allowed |= set(PAGING)
        refuse_unknown(request, allowed)
        refuse_empty(request, sorted(own))
        return super().filter_queryset(request, queryset, view)  # type: ignore[no-any-return]


class FilterExtension(DjangoFilterExtension):  # type: ignore[no-untyped-call]
    """The schema says so too."""

    target_class = "jobs.api.framework.filtering.FilterBackend"
    priority = 1

    def get_schema_operation_parameters(self, auto_schema: Any, *args: Any, **kwargs: Any) -> Any:
        found = super().get_schema_operation_parameters(  # type: ignore[no-untyped-call]
            auto_schema, *args, **kwargs
        )
        filters = getattr(auto_schema.view, "filterset_class", None)
        own = filters.base_filters if filters else {}
        for parameter in found:
            # The model's name for it, in whatever language is spoken just now.
            for schema in (parameter["schema"], parameter["schema"].get("items", {})):
                schema.pop("title", None)
            told = own[parameter["name"]].extra.get("help_text") if parameter["name"] in own else None
            if told:
                parameter.setdefault("description", told)
            if parameter["schema"] == {"type": "string"}:
                parameter["schema"] = {"type": "string", "minLength": 1}
        return found

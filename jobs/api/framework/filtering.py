"""Rejects unknown query parameters: a list with a misspelt filter must not return everything.

The same holds for an empty value, which a script sends whose variable is empty.
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


def reject_unknown(request: Request, allowed: Iterable[str]) -> None:
    """Reject unknown parameters, in a view without a filter set: `reject_unknown(request, ("after",))`."""
    names = sorted(set(allowed))
    if unknown := [name for name in request.query_params if name not in names]:
        sentence = f"There is no such parameter; there are: {', '.join(names) or 'none'}."
        raise Problem(
            400,
            "unknown_parameter",
            f"{unknown[0][:100]}: {sentence}",
            errors={name[:100]: [sentence] for name in unknown[:20]},
        )


def reject_empty(request: Request, filters: Iterable[str]) -> None:
    sentence = "Must not be empty; omit it instead."
    if empty := [name for name in filters if "" in request.query_params.getlist(name)]:
        raise Problem(400, "invalid", f"{empty[0]}: {sentence}", errors={name: [sentence] for name in empty})


@extend_schema_field(OpenApiTypes.BOOL)
class FlagFilter(TypedChoiceFilter):  # type: ignore[misc]
    """`true` or `false`. django-filter's own ignores any other value."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        choices = (("true", "true"), ("false", "false"))
        super().__init__(*args, choices=choices, coerce=lambda text: text == "true", **kwargs)


class TimeField(IsoDateTimeField):  # type: ignore[misc]
    def to_python(self, value: Any) -> Any:
        try:
            time = super().to_python(value)
            # Convert to UTC, because PostgreSQL does not accept every offset.
            return time and time.astimezone(UTC)
        except OverflowError:
            raise ValidationError(self.error_messages["invalid"], code="invalid") from None


class TimeFilter(IsoDateTimeFilter):  # type: ignore[misc]
    """A time with any offset."""

    field_class = TimeField


class FilterBackend(DjangoFilterBackend):  # type: ignore[misc]
    """Allows the view's filters and paging only."""

    def filter_queryset(self, request: Request, queryset: QuerySet[Any], view: "APIView") -> QuerySet[Any]:
        filters = self.get_filterset_class(view, queryset)
        own = sorted(filters.base_filters) if filters else []
        reject_unknown(request, [*own, *PAGING])
        reject_empty(request, own)
        return super().filter_queryset(request, queryset, view)  # type: ignore[no-any-return]


class FilterExtension(DjangoFilterExtension):  # type: ignore[no-untyped-call]
    """Describes the parameters in OpenAPI."""

    target_class = "jobs.api.framework.filtering.FilterBackend"
    priority = 1

    def get_schema_operation_parameters(self, auto_schema: Any, *args: Any, **kwargs: Any) -> Any:
        filters = getattr(auto_schema.view, "filterset_class", None)
        if filters is None:
            return []
        parameters = super().get_schema_operation_parameters(  # type: ignore[no-untyped-call]
            auto_schema, *args, **kwargs
        )
        own = filters.base_filters
        for parameter in parameters:
            # The model's verbose name, in the active language.
            for schema in (parameter["schema"], parameter["schema"].get("items", {})):
                schema.pop("title", None)
            help_text = own[parameter["name"]].extra.get("help_text") if parameter["name"] in own else None
            if help_text:
                parameter.setdefault("description", help_text)
            if parameter["schema"] == {"type": "string"}:
                parameter["schema"] = {"type": "string", "minLength": 1}
        return parameters

"""Conditions that find rows by a text or by their time, with bounds that an index serves."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast

from jobs.ids import parse_uuid, uuid7_at
from jobs.models import Batch, Job, Office

LONGEST_TEXT = 200
# An id in part, as pages show it.
SHORTEST_ID = 6
# An office's jobs are read in the order of their numbers. Their ids have the same order, except for those of
# submissions at the same time, of which each has at most so many jobs.
SKEW = 10_000
# A text has no index: of an office's jobs so many of the newest are searched.
SEARCHED = 20_000


def text_condition(text: str, *fields: str) -> Q:
    """Somewhere in these texts or in the arguments, or an id or a part of one: see `searched_texts`."""
    if identity := parse_uuid(text):
        return Q(pk=identity)
    condition = Q(arguments__icontains=text)
    for field in fields:
        condition |= Q(**{f"{field}__icontains": text})
    hexadecimal = text.lstrip("…").lower()
    if len(hexadecimal) >= SHORTEST_ID and set(hexadecimal) <= set("0123456789abcdef-"):
        condition |= Q(identity__contains=hexadecimal)
    return condition


def searched_texts() -> dict[str, Any]:
    """The expressions that the conditions on texts name."""
    return {"arguments": Cast("args", TextField()), "identity": Cast("id", TextField())}


def number_at(place: UUID) -> int:
    """The number of the newest job up to this id."""
    jobs = Job.objects.filter(id__lte=place).order_by("-id")
    return jobs.values_list("seq", flat=True).first() or 0


def created_between(jobs: QuerySet[Job], since: datetime | None, until: datetime | None) -> QuerySet[Job]:
    """An office's jobs of this time. Numbers grow with it; the time itself decides."""
    if since:
        jobs = jobs.filter(seq__gt=number_at(uuid7_at(since)) - SKEW, created_at__gte=since)
    if until:
        jobs = jobs.filter(seq__lte=number_at(uuid7_at(until)) + SKEW, created_at__lt=until)
    return jobs


def with_text(office: Office, jobs: QuerySet[Job], text: str) -> tuple[QuerySet[Job], datetime | None]:
    """The office's jobs with this text, and since when they were searched; None: all were."""
    oldest = jobs.order_by("-seq").values_list("seq", "created_at")[SEARCHED : SEARCHED + 1].first()
    if oldest is not None:
        jobs = jobs.filter(seq__gt=oldest[0])
    newest = office.batches.order_by("-created_at").values("pk")[:SEARCHED]
    batches = Batch.objects.filter(pk__in=newest, name__icontains=text)
    condition = text_condition(text, "ref", "task_id", "error_message") | Q(batch__in=batches.values("pk"))
    return jobs.alias(**searched_texts()).filter(condition), oldest[1] if oldest else None

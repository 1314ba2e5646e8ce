"""Links with which anyone can download a result, until they expire or the owner revokes them.

A link's token carries its id and a signature over the export and the id. So it opens one export only, and who
has read the database can make none. Revoking deletes the row. Tokens are credentials: logs show none, and a
change of SECRET_KEY ends all links.
"""

from datetime import datetime, timedelta

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.db import transaction
from django.db.models import QuerySet

from exports.models import ExportJob, ExportLink
from jobs import activity
from jobs.errors import Conflict
from jobs.states import Act

MIN_AGE, DEFAULT_AGE, MAX_AGE = timedelta(minutes=1), timedelta(days=7), timedelta(days=30)
MAX_LINKS = 20


class NotValid(Exception):
    """The token is none of this export: it was altered, or its link was revoked."""


class Expired(Exception):
    """The link was valid until it expired."""


def create(job: ExportJob, age: timedelta, now: datetime) -> ExportLink:
    with transaction.atomic():
        locked = ExportJob.objects.select_for_update(no_key=True).get(pk=job.pk)
        if not locked.has_file:
            raise Conflict("no_file_to_share")
        if live(locked, now).count() >= MAX_LINKS:
            raise Conflict("too_many_links", limit=MAX_LINKS)
        link = ExportLink.objects.create(export=locked, created_at=now, expires_at=now + age)
        _record(Act.LINK_CREATED, locked, link.pk)
        return link


def live(job: ExportJob, now: datetime) -> QuerySet[ExportLink]:
    return ExportLink.objects.filter(export=job, expires_at__gt=now).order_by("-pk")


def revoke(job: ExportJob, link_id: int) -> bool:
    """Answers whether there was such a link."""
    with transaction.atomic():
        deleted, _ = ExportLink.objects.filter(export=job, pk=link_id).delete()
        if deleted:
            _record(Act.LINK_REVOKED, job, link_id)
    return deleted > 0


def _record(act: Act, job: ExportJob, link_id: int) -> None:
    activity.record(act, owner=job.owner_id, export=job.pk, link=link_id)


def url_of(link: ExportLink) -> str:
    return f"{settings.BASE_URL}/api/jobs/{link.export_id}/shared/{token_of(link)}"


def token_of(link: ExportLink) -> str:
    return f"{link.pk}.{_signer().signature(_signed_text(link.export_id, str(link.pk)))}"


def open_shared(job_id: int, token: str, now: datetime) -> ExportJob:
    """The export of a token. Raises NotValid or Expired."""
    link_id, _, signature = token.partition(".")
    try:
        _signer().unsign(f"{_signed_text(job_id, link_id)}.{signature}")
    except BadSignature:
        raise NotValid from None
    links = ExportLink.objects.select_related("export__replay", "export__owner")
    link = links.filter(pk=link_id, export=job_id, export__owner__is_active=True).first()
    if link is None:
        raise NotValid
    if link.expires_at <= now:
        raise Expired
    return link.export


def _signer() -> Signer:
    return Signer(salt="exports.links", sep=".")


def _signed_text(job_id: int, link_id: str) -> str:
    return f"{job_id}/{link_id}"

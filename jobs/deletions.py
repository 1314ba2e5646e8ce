"""Keeps what a user deletes on a page for a day, so that they can undo it exactly.

The verbs that delete a row keep it, and the verbs that restore it claim it, each in its own transaction. The
row count of the claim decides between two who undo at once. What cannot come back as it was is refused.

A webhook or a workflow, to which many rows belong, is only marked as deleted, on whatever surface.
Retention deletes it after `MARKED`.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, connection, models, transaction

from jobs.errors import Conflict
from jobs.models import Deletion
from jobs.states import DeletedKind

KEPT = timedelta(days=1)
# Longer, so that an undo that begins in time finds everything.
MARKED = KEPT + timedelta(hours=1)


def record(
    kind: DeletedKind, row: models.Model, user: User, now: datetime, *, is_marked: bool = False
) -> Deletion:
    """Called in the transaction of the deletion, with the row as it was. For a marked row the id suffices."""
    packed = {"id": str(row.pk)} if is_marked else _pack(row)
    return Deletion.objects.create(user=user, kind=kind, row=packed, deleted_at=now)


@contextmanager
def claim(deletion: Deletion, now: datetime) -> Iterator[None]:
    """A transaction in which the row is restored. Raises Conflict if it was, or no longer fits the rest."""
    try:
        with transaction.atomic():
            if not Deletion.objects.filter(pk=deletion.pk, undone_at=None).update(undone_at=now):
                raise Conflict("undone_already")
            if deletion.deleted_at < now - KEPT:
                raise Conflict("cannot_undo")
            yield
            # Foreign keys are checked at the commit otherwise.
            connection.check_constraints()
    except IntegrityError:
        raise Conflict("cannot_undo") from None


def values_of(deletion: Deletion, model: type[models.Model]) -> dict[str, Any]:
    """The fields of the row, by their names in the database."""
    return {
        field.attname: field.to_python(deletion.row[field.attname]) for field in model._meta.concrete_fields
    }


def _pack(row: models.Model) -> dict[str, Any]:
    return {
        field.attname: None if field.value_from_object(row) is None else field.value_to_string(row)
        for field in row._meta.concrete_fields
    }

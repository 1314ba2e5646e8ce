"""What workers can run, as they wrote it at their start: web, beat and the others read it here."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class CatalogueEntry(models.Model):
    """One version of a Task, or of an operation of step queues: another schema or other code is another row.

    The newest that an online worker offers is in force; without an online worker, the newest of all.
    """

    digest = models.CharField(_("digest"), primary_key=True, max_length=64)
    kind = models.CharField(_("kind"), max_length=20)
    name = models.CharField(_("name"), max_length=300)
    # JSON as text: jsonb would forget the order of the arguments.
    definition = models.TextField(_("definition"))
    module = models.CharField(_("module"), max_length=300)
    # Of the module's file.
    code_digest = models.CharField(_("digest of the code"), max_length=64)
    package = models.CharField(_("package"), max_length=200)
    version = models.CharField(_("version"), max_length=200)
    registered_at = models.DateTimeField(_("registered at"))

    class Meta:
        db_table = "catalogue_entries"
        verbose_name = _("catalogue entry")
        verbose_name_plural = _("catalogue entries")
        ordering = ["kind", "name", "-registered_at"]
        indexes = [models.Index(fields=["kind", "name", "registered_at"], name="catalogue_versions")]

    def __str__(self) -> str:
        return self.name


class TaskLimit(models.Model):
    """When runs of a Task may start, as a worker has registered it last. Tasks without limits have no row."""

    task_id = models.CharField(_("Task"), primary_key=True, max_length=200)
    # One run at a time for each owner.
    exclusive = models.BooleanField(_("exclusive"), default=False)
    # The most starts in any period of this length; null if there is no such limit.
    max_starts = models.IntegerField(_("max starts"), null=True)
    period = models.DurationField(_("period"), null=True)
    # The starts so far; the next one takes the place `started % max_starts` of the ring.
    started = models.BigIntegerField(_("starts"), default=0)

    class Meta:
        db_table = "task_limits"
        verbose_name = _("Task limit")
        verbose_name_plural = _("Task limits")
        ordering = ["task_id"]

    def __str__(self) -> str:
        return self.task_id


class TaskStart(models.Model):
    """One of the newest starts of a Task with a rate limit."""

    pk = models.CompositePrimaryKey("task_id", "place")
    task_id = models.CharField(max_length=200)
    place = models.IntegerField()
    at = models.DateTimeField()

    class Meta:
        db_table = "task_starts"

    def __str__(self) -> str:
        return f"{self.task_id} {self.place}"


class CatalogueOffer(models.Model):
    """A worker offers an entry. It is online as long as the worker is."""

    worker = models.CharField(_("worker"), max_length=200)
    entry = models.ForeignKey(CatalogueEntry, models.PROTECT, related_name="offers", verbose_name=_("entry"))
    kind = models.CharField(_("kind"), max_length=20)
    name = models.CharField(_("name"), max_length=300)
    # While the worker has a row in `workers`, that one knows better.
    seen_at = models.DateTimeField(_("last heartbeat"))

    class Meta:
        db_table = "catalogue_offers"
        verbose_name = _("offer")
        verbose_name_plural = _("offers")
        ordering = ["kind", "name", "worker"]
        constraints = [
            models.UniqueConstraint(fields=["worker", "kind", "name"], name="catalogue_offer_of_worker")
        ]
        indexes = [models.Index(fields=["kind", "name"], name="catalogue_offers_by_name")]

    def __str__(self) -> str:
        return f"{self.name} {self.worker}"

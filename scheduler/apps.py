from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class SchedulerConfig(AppConfig):
    name = "scheduler"
    verbose_name = _("Schedules, workflows, step queues")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from jobs.pages import refusals
        from scheduler import metrics
        from scheduler.pages.refusals import FIELDS, KNOWN
        from scheduler.steps import wiring

        metrics.register()
        refusals.register(KNOWN, FIELDS)
        wiring.connect()

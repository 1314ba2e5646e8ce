from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class SchedulerConfig(AppConfig):
    name = "scheduler"
    verbose_name = _("Schedules, workflows, step queues")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from jobs import errors
        from jobs.pages import refusals
        from scheduler import error_texts, metrics
        from scheduler.pages.refusals import FIELDS, KNOWN
        from scheduler.steps import wiring

        metrics.register()
        errors.register_texts(error_texts.TEXTS)
        errors.register_problem_codes(error_texts.PROBLEM_CODES)
        refusals.register(KNOWN, FIELDS)
        wiring.connect()

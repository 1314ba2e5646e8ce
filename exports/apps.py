from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ExportsConfig(AppConfig):
    name = "exports"
    verbose_name = _("Exports")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from django.utils import timezone

        from exports import error_texts, metrics, reports
        from jobs import errors
        from jobs import lifecycle as engine
        from jobs.answers import Settlement
        from jobs.states import EXECUTION_ENDED, Trigger

        def report_end(settlement: Settlement) -> None:
            if settlement.state in EXECUTION_ENDED:
                reports.report_end(settlement, timezone.now())

        metrics.register()
        errors.register_texts(error_texts.TEXTS)
        errors.register_problem_codes(error_texts.PROBLEM_CODES)
        engine.on_end(Trigger.EXPORT, report_end)

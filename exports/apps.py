from typing import Any

from django.apps import AppConfig


class ExportsConfig(AppConfig):
    name = "exports"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from django.utils import timezone

        from exports import lifecycle
        from jobs import lifecycle as engine
        from jobs.states import EXECUTION_ENDED, Trigger

        def report(execution: str, source: str, answer: dict[str, Any]) -> None:
            if answer["state"] in EXECUTION_ENDED:
                lifecycle.ended(execution, source, answer, timezone.now())

        engine.on_end(Trigger.EXPORT, report)

from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class JobsConfig(AppConfig):
    name = "jobs"
    verbose_name = _("Jobs and their runs")
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from django.contrib.auth.models import User
        from django.db.models.signals import post_save

        from dure import definitions
        from jobs import checks as checks  # registers the system checks
        from jobs import error_texts, errors, passwords, registry
        from jobs.api.framework import error_codes

        errors.register_texts(error_texts.TEXTS)
        errors.register_problem_codes(error_codes.CODES)
        errors.register_problem_codes(error_texts.PROBLEM_CODES)
        definitions.call_for_each(registry.add)
        post_save.connect(passwords.record_change, sender=User, dispatch_uid="password")

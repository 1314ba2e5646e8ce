from typing import Any

from django.contrib.admin import autodiscover
from django.contrib.admin.apps import SimpleAdminConfig
from django.contrib.admin.checks import check_admin_app, check_dependencies
from django.core import checks


class AdminConfig(SimpleAdminConfig):
    """Loads the apps' admin modules with the URLs, or to check them: a worker has no use for them."""

    default_site = "config.admin_site.Site"

    def ready(self) -> None:
        checks.register(check_dependencies, checks.Tags.admin)
        checks.register(check_admin_modules, checks.Tags.admin)


def check_admin_modules(app_configs: Any, **options: Any) -> list[checks.CheckMessage]:
    autodiscover()
    return check_admin_app(app_configs, **options)

"""The admin, for operators. It looks, and acts by the verbs of the API only.

`quick` and `keyset` are its lists, `acting` its actions, `editing` and `masked` its forms, `links` and
`filters` what leads from one row to others; the admins of the apps above are made of the same parts.
"""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from jobs.admin import access, executions, jobs, notifications, offices, users, workers

__all__ = ["access", "executions", "jobs", "notifications", "offices", "users", "workers"]

admin.site.site_header = admin.site.site_title = "Dure"
admin.site.index_title = _("Admin")

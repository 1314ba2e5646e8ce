"""The admin, for operators: it shows every table, and changes rows by the verbs of the API only.

`base` and `changelist` are its lists, `rows` its pages, `actions` its actions, `forms` its forms; `links` and
`filters` lead from one row to others. The admins of the other apps are made of the same parts.
"""

from django.contrib import admin
from django.utils.translation import gettext_lazy as _

from jobs.admin import access, executions, jobs, notifications, offices, users, workers

__all__ = ["access", "executions", "jobs", "notifications", "offices", "users", "workers"]

admin.site.site_header = admin.site.site_title = "Dure"
admin.site.index_title = _("Admin")

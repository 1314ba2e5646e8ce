"""Template filters of schedules and workflows."""

from django import template

from scheduler.display import run_error

register = template.Library()
register.filter(run_error)

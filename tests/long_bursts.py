"""Bursts of an hour, in workers that import this module: no pause of a busy machine ends them."""

from django.conf import settings

settings.DURE_BURST_MS = 3_600_000

"""What operators read instead of the words of policies."""

from django.utils.translation import gettext_lazy as _

from jobs.display import Text
from jobs.states import Backoff, OnDependencyFailure, OnLost

BACKOFFS: dict[str, Text] = {Backoff.LINEAR: _("linear"), Backoff.EXPONENTIAL: _("exponential")}
ON_LOST: dict[str, Text] = {OnLost.RETRY: _("it starts again"), OnLost.FAIL: _("it fails")}
ON_DEPENDENCY_FAILURE: dict[str, Text] = {
    OnDependencyFailure.BLOCK: _("it waits"),
    OnDependencyFailure.FAIL: _("it fails"),
    OnDependencyFailure.RUN: _("it runs all the same"),
}

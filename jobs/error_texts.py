"""The texts of this app's errors, by code. jobs/errors.py explains how code raises them."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from jobs.errors import ProblemCode

TEXTS: dict[str, str | Promise] = {
    # Single sign-on
    "identity_unknown": _("There is no active account for you here. Ask an operator for one."),
    "identity_taken": _(
        "The account that belongs to you cannot be told, or is linked already. Ask an operator."
    ),
    "identity_without_claim": _(
        "Your organisation does not say who you are: %(claim)s is missing or not verified."
    ),
    "other": "%(text)s",
    "in_field": "%(field)s: %(text)s",
    # Values
    "required": _("This field is required."),
    "unknown_field": _("There is no such field."),
    "unknown_setting": _("There is no such setting."),
    "unknown_argument": _("The Task takes no such argument."),
    "wrong_type": _("Wrong type; expected: %(type)s."),
    "object": _("Must be an object: {…}."),
    "boolean": _("Must be true or false."),
    "whole_number_between": _("Must be a whole number from %(low)s to %(high)s."),
    "finite": _("Must be a finite number."),
    "at_least": _("Must be at least %(limit)s."),
    "at_most": _("Must be at most %(limit)s."),
    "greater_than": _("Must be greater than %(limit)s."),
    "less_than": _("Must be less than %(limit)s."),
    "multiple_of": _("Must be a multiple of %(limit)s."),
    "too_short": _("Too short; the minimum length is %(limit)s."),
    "too_long": _("Too long; the maximum length is %(limit)s."),
    "pattern": _("Must match the pattern %(limit)s."),
    "one_of": _("Must be one of %(limit)s."),
    "no_option": _("Fits none of the allowed forms."),
    "text_up_to": _("Must be a text of at most %(limit)s characters."),
    "uuid": _("Must be a UUID."),
    "time_with_offset": _("Must be an ISO 8601 time with its offset, like 2026-12-01T09:00:00+09:00."),
    "time_out_of_range": _("Must be between 1970 and ten years from now."),
    "role_name": _(
        "Must be the name of a role: a letter, then up to 63 letters, digits, dots, hyphens or underscores; "
        "not control, notices or celery."
    ),
    "hidden_value": _("Write the hidden value again: it has moved, or is new."),
    # JSON
    "json_syntax": _("Not valid JSON: %(reason)s at line %(line)s column %(column)s."),
    "json_not_utf8": _("Not UTF-8: byte %(byte)s cannot be read."),
    "json_too_deep": _("Nested deeper than %(limit)s levels."),
    "json_key_twice": _("The key %(key)s appears twice in one object."),
    "json_number_64_bits": _("The number %(number)s does not fit in 64 bits."),
    "json_number_too_large": _("The number %(number)s is too large."),
    "json_constant": _("%(text)s is not a JSON number."),
    "json_nul": _("The text at %(place)s contains a NUL character."),
    "json_surrogate": _("The text at %(place)s contains half of a surrogate pair."),
    # Submissions
    "submission_invalid": _("The submission is not valid; nothing was written."),
    "submission_object": _("A submission is a JSON object."),
    "submission_jobs": _("Must be a list with at least one job."),
    "submission_batch": _("Must be an object with an id, a name, or both."),
    "too_many_jobs": _("A submission has at most %(limit)s jobs; this one has %(count)s."),
    "too_many_edges": _("A submission has at most %(limit)s edges; this one has %(count)s."),
    "args_too_large": _("%(field)s has %(size)s bytes; at most %(limit)s are allowed."),
    "id_taken": _("This id is already in use."),
    "unknown_task": _("No Task '%(task)s' is registered."),
    "internal_task": _("Only the system starts the Task '%(task)s'."),
    "dependency_list": _("Must be a list of refs or job ids."),
    "dependency_twice": _("Names a dependency twice."),
    "reference_malformed": _(
        "A reference has `$result` and, if needed, `path`, or it has `$input` alone; their values are texts."
    ),
    "reference_dependency": _("`$result` names '%(name)s', which is not in `depends_on`."),
    "reference_input": _("`$input` is for the steps of a workflow."),
    "dependency_unknown": _("There is no job '%(name)s' in this submission or in the office."),
    "dependency_self": _("A job cannot depend on itself."),
    "ref_twice": _("The ref '%(name)s' is used twice."),
    "unique_key_twice": _("Two jobs of this submission have the same unique key."),
    "cycle": _("%(count)s jobs depend on each other in a cycle: %(members)s"),
    "unique_key_taken": _("The office already has an unfinished job with this unique_key."),
    # Jobs
    "ended": _("Already ended: %(status)s."),
    "already_ended": _("it has already ended"),
    "not_retryable": _("Only a failed, timed-out or cancelled job can be retried; this one is %(status)s."),
    "retry_dependencies_first": _("It would fail again with its dependencies: retry %(names)s first."),
    # Offices
    "jobs_processing": _("%(count)s jobs of the office are running: cancel them and wait until they stop."),
    "last_owner": _("An office needs an owner: make another member an owner first."),
    "unknown_user": _("There is no such user."),
    # Workers
    "worker_unreachable": _("The worker %(name)s did not answer: it is offline, or the broker is."),
    "worker_refused": _("The worker %(name)s refused: %(error)s."),
    # Webhooks
    "too_many_webhooks": _("An office has at most %(limit)s webhooks."),
    "webhook_not_signed": _("A chat takes no signatures: this webhook has no secret."),
    "webhook_disabled": _("The webhook is disabled: enable it first."),
    "unknown_event": _("There is no event %(event)s; there are: %(allowed)s."),
    "no_event": _("Choose at least one event, or disable the webhook."),
    # Requests to other servers
    "url_too_long": _("The URL is longer than %(limit)s characters."),
    "url_characters": _("The URL contains a space, a backslash or a control character."),
    "url_invalid": _("Not a valid URL."),
    "url_scheme": _("The URL must start with http:// or https://."),
    "url_credentials": _("The URL contains a user name or a password; use the Authorization header."),
    "url_host": _("The host in the URL is not a valid name or address."),
    "url_encoding": _("The URL contains a character that cannot be encoded."),
    "url_not_public": _("Only public addresses can be reached, on port 80, 443 or from 1024 on."),
    "target_not_public": _(
        "%(target)s is not allowed: only public addresses can be reached, on port 80, 443 or from 1024 on "
        "without those of databases."
    ),
    "method": _("The method must be one of %(allowed)s."),
    "header_name": _("'%(name)s' is not a valid header name."),
    "header_reserved": _("The header %(name)s is set by the client itself."),
    "header_value": _("The header %(name)s may contain visible ASCII characters and spaces only."),
}

PROBLEM_CODES = {
    "cycle": ProblemCode(
        400,
        "Dependency cycle",
        "The jobs depend on each other in a cycle; `cycle` names its members, in order.",
    ),
    "unique_key_taken": ProblemCode(
        409, "Unique key in use", "The office has an unfinished job with this `unique_key`."
    ),
    "jobs_processing": ProblemCode(
        409, "Jobs still processing", "Jobs of the office are processing; cancel them first."
    ),
    "ended": ProblemCode(409, "Already ended", "It has ended, so this is no longer possible."),
    "not_retryable": ProblemCode(
        409, "Not retryable", "Only a failed, timed-out or cancelled job can be retried."
    ),
    "retry_dependencies_first": ProblemCode(
        409,
        "Retry the dependencies first",
        "It would fail again with its dependencies; `jobs` names those to retry first, in order.",
    ),
    "last_owner": ProblemCode(409, "Last owner", "An office needs an owner, and this is the last one."),
    "too_many_webhooks": ProblemCode(
        409, "Too many webhooks", "The office has the maximum number of webhooks."
    ),
    "webhook_not_signed": ProblemCode(
        409, "Webhook without a secret", "The messages of a chat are not signed, so it has no secret."
    ),
    "webhook_disabled": ProblemCode(
        409, "Webhook disabled", "A disabled webhook receives nothing; enable it first."
    ),
}

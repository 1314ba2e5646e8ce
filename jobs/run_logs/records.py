"""The message of a record in which there is nothing to redact.

The worker's own log makes the text of each record and looks for secrets in it. That is most of what a line
costs, so the log of the run does not do it again.
"""

import logging

_ATTRIBUTE = "clean_message"


def mark_clean(record: logging.LogRecord, message: str) -> None:
    """Called by a formatter that has found nothing to redact in the message, nor in what is before it."""
    record.__dict__[_ATTRIBUTE] = message


def clean_message(record: logging.LogRecord) -> str | None:
    """The whole text of the record, if it is known and holds no secret."""
    message = record.__dict__.pop(_ATTRIBUTE, None)  # who changes the record and logs it again has another
    return None if record.exc_info else message
